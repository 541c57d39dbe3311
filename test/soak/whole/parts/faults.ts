import { subscribe } from 'node:diagnostics_channel'
import type { Worker } from 'node:worker_threads'
import type { Balance } from '../words.js'
import { noneMade, type Part } from './part.js'
import { until } from './until.js'

/** Between two deaths of the polling thread, ms: twice in a row, as each other one is killed before it counts as well. */
const PAUSES = [65_000, 10_000]

/** Kills the polling thread now and then, and counts what the process is warned of. */
export class Faults implements Part {
  readonly made = noneMade()
  killed = 0
  readonly #warnings = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #poller: Worker | undefined
  #restarts = 0

  /** @param own threads that are none of the library's */
  constructor(own: ReadonlySet<Worker>) {
    process.removeAllListeners('warning')
    process.on('warning', (warning: Error & { code?: string }) => {
      const { code = warning.name } = warning
      this.#warnings.set(code, (this.#warnings.get(code) ?? 0) + 1)
    })
    process.on('worker', (worker) => {
      if (!own.has(worker)) this.#poller = worker
    })
    subscribe('idlest:worker:restart', () => this.#restarts++)
    this.#killSoon(0)
  }

  /** Warnings of a code. */
  warned(code: string): number {
    return this.#warnings.get(code) ?? 0
  }

  async settle(): Promise<void> {
    clearTimeout(this.#timer)
    await until(() => this.#restarts === this.killed)
  }

  async close(): Promise<void> {}

  balances(): Balance[] {
    return [{ what: 'deaths of the polling thread', counted: this.#restarts, made: this.killed }]
  }

  #killSoon(turn: number): void {
    this.#timer = setTimeout(
      () => {
        this.#killSoon(turn + 1)
        const poller = this.#poller
        if (poller === undefined) return
        this.#poller = undefined
        this.killed++
        void poller.terminate()
      },
      PAUSES[turn % PAUSES.length],
    )
  }
}
