import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** How often nodes tell, and are asked whether they have, ms. */
export const INTERVAL = 500

/** What the nodes are polled by. */
export const SCENE_TRANSPORTS = ['grpc', 'http', 'node-exporter'] as const
export type SceneTransport = (typeof SCENE_TRANSPORTS)[number]

/** Addresses. */
export interface SceneNodes {
  readonly good: readonly string[]
  readonly hostile: readonly string[]
}

/** What some cycles came to. */
export interface Phase {
  /** CPU time of the process that polls, ms a cycle. */
  readonly cpu: number
  /** Bytes at the end. */
  readonly rss: number
  /** Good nodes that were not fresh in a cycle; once for each cycle. */
  readonly failed: readonly string[]
  readonly asked: number
  readonly heard: number
}

/** What the scene came to: the good nodes alone, with the hostile ones from their first moment on, and later. */
export interface SceneResult {
  readonly alone: Phase
  readonly first: Phase
  readonly then: Phase
  readonly quarantined: number
}

function start(file: string, args: readonly string[], flags: readonly string[]): ChildProcess {
  const child = fork(new URL(file, import.meta.url), [...args], { execArgv: ['--import', 'tsx', ...flags] })
  child.once('exit', (code) => {
    if (code !== 0 && code !== null) child.emit('error', new Error(`${file} ended with code ${code}`))
  })
  return child
}

/** Polls so many good nodes, and a ninth as many hostile ones beside them, for so many cycles each. */
export async function hostileScene(
  transport: SceneTransport,
  good: number,
  cycles: number,
): Promise<SceneResult> {
  const nodes = start('./nodes.ts', [transport, String(good)], [])
  try {
    const [addresses] = (await once(nodes, 'message')) as [SceneNodes]
    const poll = start('./poll.ts', [transport, String(cycles)], ['--expose-gc'])
    poll.send(addresses)
    const [result] = (await once(poll, 'message')) as [SceneResult]
    return result
  } finally {
    nodes.kill()
  }
}

/** What of the scene is not as it has to be. */
export function wrongIn({ alone, first, then }: SceneResult): string[] {
  const wrong: string[] = []
  for (const [name, { failed }] of Object.entries({ alone, first, then })) {
    if (failed.length > 0) wrong.push(`${name}: good nodes were not fresh: ${failed.join()}`)
  }
  return wrong
}

/** Runs the scene by each transport, says what it came to, and whether it is as it has to be. */
export async function soakHostile(cycles: number): Promise<boolean> {
  let isRight = true
  for (const transport of SCENE_TRANSPORTS) {
    console.log(transport)
    if (!(await soakBy(transport, cycles))) isRight = false
  }
  return isRight
}

/** Bytes that hostile nodes may add. Pages of 4 MiB are received whole before they are read. */
const MOST_GROWTH: Readonly<Record<SceneTransport, number>> = {
  grpc: 32e6,
  http: 32e6,
  'node-exporter': 64e6,
}

async function soakBy(transport: SceneTransport, cycles: number): Promise<boolean> {
  const result = await hostileScene(transport, 180, cycles)
  const { alone, first, then, quarantined } = result
  console.table(
    Object.fromEntries(
      Object.entries({ alone, first, then }).map(([name, { cpu, rss, failed, asked, heard }]) => [
        name,
        {
          'CPU, ms a cycle': Math.round(cpu * 10) / 10,
          'RSS, MB': Math.round(rss / 1e6),
          asked,
          heard,
          'good, not fresh': failed.length,
        },
      ]),
    ),
  )
  const wrong = wrongIn(result)
  for (const phase of [first, then]) {
    if (phase.cpu > 2 * alone.cpu) wrong.push(`CPU is ${(phase.cpu / alone.cpu).toFixed(1)} times as much`)
    if (phase.rss > alone.rss + MOST_GROWTH[transport])
      wrong.push(`${Math.round((phase.rss - alone.rss) / 1e6)} MB more`)
  }
  console.log(`nodes left out for a fault of idlest's: ${quarantined}`)
  for (const line of wrong) console.log(line)
  return wrong.length === 0
}
