import type { Clock, TimerHandle } from '../clock.js'
import type { Answer } from '../poller/answer.js'
import type { ProbeAsker } from '../poller/probe-asker.js'
import type { Report } from '../report.js'
import type { Entry } from '../table/table.js'

/** A probe that is not answered fails after this, ms: the default time-out of polls. */
const TIMEOUT = 2_000

/** Carries a balancer's probes to simulated servers, in virtual time and without promises. */
export class SimulatedProbes implements ProbeAsker {
  readonly #probe: (id: string, answer: (report: Report) => void) => void
  readonly #clock: Clock

  constructor(probe: (id: string, answer: (report: Report) => void) => void, clock: Clock) {
    this.#probe = probe
    this.#clock = clock
  }

  setMembers(): void {}

  ask({ id }: Entry, settle: (answer: Answer) => void): void {
    let timer: TimerHandle
    let open = true
    const end = (answer: Answer) => {
      if (!open) return
      open = false
      this.#clock.clearTimeout(timer)
      settle(answer)
    }
    timer = this.#clock.setTimeout(() => end({ kind: 'exit', reason: 'no answer' }), TIMEOUT)
    this.#probe(id, (report) => end({ kind: 'report', report, at: this.#clock.now() }))
  }

  close(): void {}
}
