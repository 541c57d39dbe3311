import type { LiveView } from '../../live/live-view.js'

/** What is kept over time, of each node. */
const TRACKS = ['cpu', 'picksPerSecond', 'inFlight'] as const

type Track = (typeof TRACKS)[number]

/** Moments that are kept. */
const LENGTH = 120

/** The last moments of all nodes, in the order of time. Kept here: the balancer knows the present alone. */
export class History {
  /** Times of the moments, s, since the balancer is served; and its picks per second then. */
  readonly times: number[] = []
  readonly picks: number[] = []
  readonly #byNode = new Map<string, Record<Track, (number | null)[]>>()

  /** Takes up a view. One that is earlier than the last is of a balancer that was started anew. */
  add({ time, picksPerSecond, nodes }: LiveView): void {
    const last = this.times.at(-1)
    if (last !== undefined && time / 1_000 < last) this.#clear()
    this.times.push(time / 1_000)
    this.picks.push(picksPerSecond)
    const moments = this.times.length
    const present = new Set<string>()
    for (const node of nodes) {
      present.add(node.id)
      const tracks = this.#byNode.get(node.id) ?? newTracks(moments - 1)
      for (const track of TRACKS) tracks[track].push(node[track] ?? null)
      this.#byNode.set(node.id, tracks)
    }
    for (const id of this.#byNode.keys()) if (!present.has(id)) this.#byNode.delete(id)
    if (moments > LENGTH) this.#forgetFirst()
  }

  /** One value a moment; null where there was none. */
  of(id: string, track: Track): readonly (number | null)[] {
    return this.#byNode.get(id)?.[track] ?? []
  }

  #forgetFirst(): void {
    this.times.shift()
    this.picks.shift()
    for (const tracks of this.#byNode.values()) for (const track of TRACKS) tracks[track].shift()
  }

  #clear(): void {
    this.times.length = 0
    this.picks.length = 0
    this.#byNode.clear()
  }
}

function newTracks(moments: number): Record<Track, (number | null)[]> {
  const none = () => new Array<number | null>(moments).fill(null)
  return { cpu: none(), picksPerSecond: none(), inFlight: none() }
}
