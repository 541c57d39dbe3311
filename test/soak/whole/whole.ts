import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Fleet, start } from './fleet.js'
import { Sharers } from './sharers.js'
import type { FromSoaked, Look, SoakedOutcome, Task, ToSoaked } from './words.js'

/** What a soak came to. */
export interface WholeOutcome extends SoakedOutcome {
  readonly looks: readonly Look[]
  /** How often what was done to it. */
  readonly faults: Readonly<Record<string, number>>
}

/** Longest time that the soaked process takes to let go of all, and to end after that, ms. */
const LONGEST_END = 120_000

/**
 * glibc gives threads arenas of their own, eight a processor, and keeps what they free: each comes to hold the most that any
 * thread ever needed in it, such as 40 MB for V8's optimizing compiler. Of a process that was soaked with all of them `mallinfo2`
 * told 15 to 20 MiB in use from beginning to end, while what was free and kept rose from 17 to 78 MiB in five minutes. With
 * one arena what was freed is used again, whoever freed it, so that what still rises is what nobody frees.
 */
const ENVIRONMENT = {
  MALLOC_ARENA_MAX: '1',
  NODE_OPTIONS: `--import=${new URL('./used.mjs', import.meta.url)}`,
}

/**
 * V8 keeps up to 48 MB for what is young, in each of six threads, and by how busy they are: a busier minute is no leak.
 *
 * And V8 11, that of Node.js 20, ends the process (`node_platform.cc:518`) where a thread is terminated while another one still
 * compiles for it and, short of memory, begins to collect: it asks for the tasks of an isolate that is none any more. It was met
 * once while threads were terminated within 0.1 s of when they began to pick. Without tasks for that V8 does not ask.
 */
const FLAGS = [
  '--expose-gc',
  '--max-semi-space-size=2',
  ...(process.versions.v8.startsWith('11.') ? ['--no-incremental-marking-task'] : []),
]

/** One soaked process, as it is told of. */
class Soaked {
  readonly looks: Look[] = []
  readonly exited: Promise<unknown[]>
  readonly #child: ChildProcess
  readonly #waiting = new Map<FromSoaked['kind'], (message: FromSoaked) => void>()

  constructor(onLook: (look: Look) => void) {
    this.#child = start('./client.ts', [], FLAGS, ENVIRONMENT)
    this.exited = once(this.#child, 'exit')
    this.#child.on('message', (message: FromSoaked) => {
      this.#waiting.get(message.kind)?.(message)
      if (message.kind !== 'look') return
      this.looks.push(message.look)
      onLook(message.look)
    })
  }

  tell(message: Task | ToSoaked): void {
    this.#child.send(message)
  }

  /** Rejects where it ends before. */
  async hear<K extends FromSoaked['kind']>(kind: K): Promise<Extract<FromSoaked, { kind: K }>> {
    const message = new Promise<FromSoaked>((resolve) => this.#waiting.set(kind, resolve))
    const ended = this.exited.then(([code, signal]) => {
      throw new Error(`the soaked process ended with ${code ?? signal} before it was ${kind}`)
    })
    return (await Promise.race([message, ended])) as Extract<FromSoaked, { kind: K }>
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}

/**
 * Soaks the whole for so long: polls by all transports, picks on several threads, leases, members that come and go, and
 * everything that can fail.
 */
export async function soakWhole(ms: number, onLook: (look: Look) => void): Promise<WholeOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-soak-'))
  const file = join(folder, 'table')
  const fleet = new Fleet()
  const faulty = start('./faulty.ts')
  const soaked = new Soaked(onLook)
  let sharers: Sharers | undefined
  try {
    const [agents, [addresses]] = await Promise.all([fleet.start(), once(faulty, 'message')])
    soaked.tell({ agents, faulty: addresses as Task['faulty'], file })
    await soaked.hear('started')
    sharers = new Sharers(
      file,
      agents.map(({ http }) => `127.0.0.1:${http}`),
    )
    fleet.goWrong()
    sharers.goWrong()
    await Promise.race([delay(ms), soaked.hear('outcome')])
    await Promise.all([fleet.settle(), sharers.settle()])
    soaked.tell({ kind: 'end' })
    await soaked.hear('quiet')
    soaked.tell({ kind: 'sent', sent: await fleet.sent() })
    const { outcome } = await soaked.hear('outcome')
    const ended = await Promise.race([soaked.exited, delay(LONGEST_END, undefined, { ref: false })])
    const code = ended === undefined ? Number.NaN : Number(ended[0])
    return {
      ...outcome,
      balances: [...outcome.balances, { what: 'code that the process ended with', counted: code, made: 0 }],
      looks: soaked.looks,
      faults: { ...fleet.faults, ...sharers.faults },
    }
  } finally {
    soaked.kill()
    sharers?.kill()
    faulty.kill()
    await fleet.end()
    rmSync(folder, { recursive: true, force: true })
  }
}
