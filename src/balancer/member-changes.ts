import type { Place } from './member.js'

/** In place of an index: the next ones among those who joined. */
export const JOINED = 0xffffffff

/**
 * How one list of members becomes the next. Pairs of numbers: the index of the first of a run of members that stay together,
 * in the list before, or `JOINED`; and how many there are.
 */
export interface MemberChange {
  readonly runs: Uint32Array
  /** The indices, in the list after it, of those who joined. */
  readonly joined: readonly number[]
  /** The places of those who left. */
  readonly left: Iterable<Place>
}

/**
 * The change from one list to another; undefined where they are equal.
 * @param before each place once, as are those of `after`. A node that left and came back has another place
 */
export function changeBetween(before: readonly Place[], after: readonly Place[]): MemberChange | undefined {
  const least = Math.min(before.length, after.length)
  let head = 0
  while (head < least && before[head] === after[head]) head++
  if (head === before.length && head === after.length) return undefined
  let tail = 0
  while (tail < least - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const indices = new Map<Place, number>()
  for (let i = head; i < before.length - tail; i++) indices.set(before[i] as Place, i)
  const runs = new Runs()
  const joined: number[] = []
  runs.add(0, head)
  for (let i = head; i < after.length - tail; i++) {
    const index = indices.get(after[i] as Place)
    if (index === undefined) joined.push(i)
    else indices.delete(after[i] as Place)
    runs.add(index ?? JOINED, 1)
  }
  runs.add(before.length - tail, tail)
  return { runs: runs.all(), joined, left: indices.keys() }
}

class Runs {
  readonly #numbers: number[] = []
  #next = -1

  add(from: number, count: number): void {
    if (count === 0) return
    const last = this.#numbers.length - 1
    if (last > 0 && from === this.#next) this.#numbers[last] = (this.#numbers[last] as number) + count
    else this.#numbers.push(from, count)
    this.#next = from === JOINED ? JOINED : from + count
  }

  all(): Uint32Array {
    return Uint32Array.from(this.#numbers)
  }
}
