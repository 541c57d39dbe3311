import { Generator } from '../engine/portable/generator.js'
import type { Change } from './scene.js'
import { streamSeed } from './workload.js'

const REDRAW_STREAM = 0x72656472

/** Other work that moves about between servers. */
export interface RedrawnOptions {
  /** How many servers there are, and how many of them have other work at any one time. */
  readonly servers: number
  readonly busy: number
  /** Share of each core that it takes there, 0-1. */
  readonly background: number
  /** Time between two draws, ms; the first is at 0. */
  readonly every: number
  /** When to stop, ms. */
  readonly until: number
  readonly seed: number
}

/** The changes of a scene in which some servers, drawn anew every so often, have other work to do. */
export function redrawn({ servers, busy, background, every, until, seed }: RedrawnOptions): Change[] {
  const generator = new Generator(streamSeed(seed, REDRAW_STREAM))
  const order = Array.from({ length: servers }, (_, i) => i)
  const changes: Change[] = []
  let before: readonly number[] = []
  for (let at = 0; at < until; at += every) {
    // The first steps of a Fisher-Yates shuffle: every choice of servers is as likely.
    for (let i = 0; i < busy; i++) {
      const other = i + generator.below(servers - i)
      const server = order[other] as number
      order[other] = order[i] as number
      order[i] = server
    }
    const now = order.slice(0, busy)
    for (const server of before) if (!now.includes(server)) changes.push({ at, server, background: 0 })
    for (const server of now) if (!before.includes(server)) changes.push({ at, server, background })
    before = now
  }
  return changes
}
