import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { start } from './fleet.js'

/** How long the other process lives, ms: from this to twice this. */
const LIFE = 10_000

/** Another process that has the soaked one's table in a file: killed with leases open, and started again. */
export class Sharers {
  readonly faults = { 'processes killed that shared the table': 0 }
  readonly #args: readonly string[]
  #child: ChildProcess | undefined
  #ended = false
  #going: Promise<void> = Promise.resolve()

  constructor(file: string, nodes: readonly string[]) {
    this.#args = [file, JSON.stringify(nodes)]
  }

  goWrong(): void {
    this.#going = this.#goWrong()
  }

  /** It is killed for the last time. */
  async settle(): Promise<void> {
    this.#ended = true
    await this.#going
  }

  /** Where something else went wrong. */
  kill(): void {
    this.#ended = true
    this.#child?.kill('SIGKILL')
  }

  async #goWrong(): Promise<void> {
    while (!this.#ended) {
      const child = start('./sharer.mjs', this.#args)
      this.#child = child
      const exit = once(child, 'exit')
      await Promise.race([once(child, 'message'), exit])
      for (let lived = 0; lived < LIFE * (1 + Math.random()) && !this.#ended; lived += 500) await delay(500)
      child.kill('SIGKILL')
      await exit
      this.faults['processes killed that shared the table']++
    }
  }
}
