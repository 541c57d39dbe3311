import { subscribe } from 'node:diagnostics_channel'
import type { Worker } from 'node:worker_threads'
import type { Balance } from '../words.js'
import { noneMade, type Part } from './part.js'
import { PollingMemory } from './polling-memory.js'
import { until } from './until.js'

/** Threads that all poll with: the first is killed now and then, the other stays, so that what it would leak adds up. */
export const POLLING_THREADS = 2

/** How agents are polled. */
export const POLLS = { interval: 500, startupJitter: 0, workers: POLLING_THREADS, timeout: 1_000 } as const

/** Between two deaths of a polling thread, ms: twice in a row, as each other one is killed before it counts as well. */
const PAUSES = [65_000, 10_000]

/** Kills a polling thread now and then, and counts what the process is warned of. */
export class Faults implements Part {
  readonly made = noneMade()
  killed = 0
  readonly #warnings = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #mortal: Worker | undefined
  #stays: Worker | undefined
  readonly #memory = new PollingMemory()
  #restarts = 0

  /** @param own threads that are none of the library's */
  constructor(own: ReadonlySet<Worker>) {
    process.removeAllListeners('warning')
    process.on('warning', (warning: Error & { code?: string }) => {
      const { code = warning.name, message } = warning
      // Nodes that fail alike at one time share a warning.
      const nodes = Number(/^[^"]*?\b(\d+) (?:more )?nodes\b/.exec(message)?.[1] ?? 1)
      this.#warnings.set(code, (this.#warnings.get(code) ?? 0) + nodes)
    })
    process.on('worker', (worker) => {
      if (own.has(worker)) return
      // Whatever comes later is in the place of one that was killed.
      if (this.#mortal !== undefined && this.#stays === undefined) this.#stays = worker
      else this.#mortal = worker
    })
    subscribe('idlest:worker:restart', () => this.#restarts++)
    this.#killSoon(0)
  }

  /** Bytes that the polling thread that stays has in use, after a collection. */
  async used(): Promise<number> {
    return this.#stays === undefined ? 0 : this.#memory.used(this.#stays)
  }

  /** Nodes that warnings of a code were about. */
  warned(code: string): number {
    return this.#warnings.get(code) ?? 0
  }

  async settle(): Promise<void> {
    clearTimeout(this.#timer)
    await until(() => this.#restarts === this.killed)
  }

  async close(): Promise<void> {
    this.#memory.close()
  }

  balances(): Balance[] {
    return [{ what: 'deaths of polling threads', counted: this.#restarts, made: this.killed }]
  }

  #killSoon(turn: number): void {
    this.#timer = setTimeout(
      () => {
        this.#killSoon(turn + 1)
        const mortal = this.#mortal
        if (mortal === undefined) return
        this.#mortal = undefined
        this.killed++
        void mortal.terminate()
      },
      PAUSES[turn % PAUSES.length],
    )
  }
}
