/**
 * Fills the empty places of a list: with those who join, in their order, as far as there are any; then with the last of the
 * list. Who joins and finds no empty place comes to the end. All others stay where they are.
 * @param list undefined for an empty place
 */
export function taken<T>(list: readonly (T | undefined)[], joined: readonly T[]): T[] {
  const filled = list.slice()
  let next = 0
  for (let i = filled.indexOf(undefined); i >= 0; i = filled.indexOf(undefined, i + 1)) {
    if (next < joined.length) {
      filled[i] = joined[next++]
      continue
    }
    const last = lastBehind(filled, i)
    if (last === undefined) filled.length = i
    else filled[i] = last
  }
  for (const one of joined.slice(next)) filled.push(one)
  // No place is empty any more.
  return filled as T[]
}

// Takes away the last one behind a place, and the empty places behind it.
function lastBehind<T>(list: (T | undefined)[], place: number): T | undefined {
  while (list.length > place + 1) {
    const last = list.pop()
    if (last !== undefined) return last
  }
  return undefined
}
