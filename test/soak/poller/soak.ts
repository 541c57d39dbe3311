import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { PollerCounters } from '../../../dist/index.js'

/** The nodes that are polled by one transport. */
export interface SoakNodes {
  readonly transport: string
  readonly tls: boolean
  readonly right: readonly string[]
  readonly wrong: readonly string[]
}

/** What polling came to. */
export interface SoakResult {
  readonly counters: readonly (PollerCounters & { readonly name: string })[]
  /** Bytes in use after a collection of garbage, at the end of each tenth of the cycles. */
  readonly used: readonly number[]
  /** Files and sockets that are open, at the same moments. */
  readonly open: readonly number[]
  /** Memory of the process in the end, bytes. */
  readonly rss: number
}

/** Most bytes that memory in use may grow by, from the first tenth of the cycles to the last. */
export const MOST_GROWTH = 2 * 1024 * 1024

/** How much memory in use has grown by since the first tenth, bytes: by the smaller of the last two looks, since what is under way at a look differs. */
export function growthOf({ used }: SoakResult): number {
  return Math.min(...used.slice(-2)) - (used[0] ?? 0)
}

function start(file: string, args: readonly string[], flags: readonly string[]): ChildProcess {
  const child = fork(new URL(file, import.meta.url), [...args], { execArgv: ['--import', 'tsx', ...flags] })
  child.once('exit', (code) => {
    if (code !== 0 && code !== null) child.emit('error', new Error(`${file} ended with code ${code}`))
  })
  return child
}

/** Polls nodes that do everything wrong, and some that don't, for so many cycles of each transport. */
export async function soak(cycles: number): Promise<SoakResult> {
  const nodes = start('./nodes.ts', [], [])
  try {
    const [addresses] = (await once(nodes, 'message')) as [SoakNodes[]]
    const poll = start('./poll.ts', [String(cycles)], ['--expose-gc'])
    poll.send(addresses)
    const [result] = (await once(poll, 'message')) as [SoakResult]
    return result
  } finally {
    nodes.kill()
  }
}
