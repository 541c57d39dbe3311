import type { TimerHandle } from '../clock.js'
import { processClock } from '../process-clock.js'
import type { TableMemory } from '../table/memory.js'
import { reportTime } from '../table/report.js'
import type { TableSource } from '../table/table.js'
import { emptyTally, type Tally } from './answer.js'
import type { AskSettings } from './asked-members.js'
import type { AsideMessage, Done } from './protocol.js'
import type { Share, ShareListener } from './share.js'
import type { LocalTarget, PlacedTarget } from './targets.js'
import type { HostClient, WorkerHost } from './worker-host.js'

// The thread ends a round by its time-out itself; it gets this much longer to say so, ms.
const GRACE = 150

interface Asking {
  readonly round: number
  readonly deadline: number
  readonly timeout: number
  readonly resolve: (tally: Tally) => void
  /** Those that are asked, and of when their reports were as the round began. */
  readonly targets: readonly PlacedTarget[]
  readonly before: Float64Array
  timer: TimerHandle
}

/** Has one polling thread ask, under the process's own clock. */
export class WorkerShare implements Share, HostClient {
  readonly #host: WorkerHost
  readonly #memory: TableMemory
  readonly #table: TableSource
  readonly #settings: AskSettings
  readonly #listener: ShareListener
  readonly #targets = new Map<number, PlacedTarget>()
  #number = 0
  #round = 0
  #asking: Asking | undefined
  // The last round that was not waited for, and how many reports of it were counted.
  #givenUp = { round: 0, stored: 0 }

  /** @param table what the thread reaches `memory` by */
  constructor(
    host: WorkerHost,
    memory: TableMemory,
    table: TableSource,
    settings: AskSettings,
    listener: ShareListener,
  ) {
    this.#host = host
    this.#memory = memory
    this.#table = table
    this.#settings = settings
    this.#listener = listener
  }

  get size(): number {
    return this.#targets.size
  }

  /** Takes part in the thread from the first member on. */
  change(removed: readonly number[], given: readonly LocalTarget[]): void {
    const added = given.filter((target) => target.kind !== 'custom')
    for (const slot of removed) this.#targets.delete(slot)
    for (const target of added) this.#targets.set(target.slot, target)
    if (this.#number !== 0) this.#host.post({ type: 'members', poller: this.#number, removed, added })
    else if (this.#targets.size > 0) this.#attach()
  }

  get attached(): boolean {
    return this.#number !== 0
  }

  forget(slots: readonly number[]): void {
    if (this.#number !== 0) this.#host.post({ type: 'forget', poller: this.#number, slots })
  }

  prepare(): Promise<void> {
    return this.#host.ready(this.#number)
  }

  round(timeout: number): Promise<Tally> {
    const deadline = processClock.now() + timeout
    return new Promise((resolve) => {
      const round = ++this.#round
      const timer = processClock.setTimeout(() => this.#overdue(round), timeout + GRACE)
      const targets = [...this.#targets.values()]
      const before = Float64Array.from(targets, (target) => this.#reportTime(target))
      this.#asking = { round, deadline, timeout, resolve, targets, before, timer }
      this.#post()
    })
  }

  async close(): Promise<void> {
    this.#end(emptyTally())
    const number = this.#number
    this.#number = -1
    if (number > 0) await this.#host.detach(number)
  }

  onStart(): void {
    const { silentFor, coalesce } = this.#settings
    this.#host.post({ type: 'open', poller: this.#number, table: this.#table, silentFor, coalesce })
    this.#host.post({
      type: 'members',
      poller: this.#number,
      removed: [],
      added: [...this.#targets.values()],
    })
    this.#post()
  }

  onDone({ round, tally }: Done): void {
    if (this.#asking?.round === round) this.#end(tally)
    else {
      const counted = this.#givenUp.round === round ? this.#givenUp.stored : 0
      const came = tally.stored + tally.older + tally.empty + tally.late
      this.#listener.onLate(Math.max(0, came - counted))
    }
  }

  onAside({ aside }: AsideMessage): void {
    this.#listener.onAside(aside)
  }

  onFault(): void {
    this.#listener.onFault()
  }

  onCrash(reason: string): void {
    this.#giveUp(`the polling thread ended: ${reason}`)
  }

  #attach(): void {
    this.#number = this.#host.attach(this)
    this.onStart()
  }

  // Where there is no thread at present, the next one is told when it starts.
  #post(): void {
    if (this.#asking === undefined) return
    const { round, deadline, timeout } = this.#asking
    this.#host.post({ type: 'round', poller: this.#number, round, deadline, timeout })
  }

  // This thread may have been busy, with the answer waiting behind the timer: let it in first.
  #overdue(round: number): void {
    if (this.#asking?.round !== round) return
    this.#asking.timer = processClock.setTimeout(() => {
      if (this.#asking?.round !== round) return
      this.#giveUp('no word from the polling thread')
    }, GRACE)
  }

  // The thread has not said what the round came to: those whose reports are new have answered all the same.
  #giveUp(reason: string): void {
    if (this.#asking === undefined) return
    const { round, targets, before } = this.#asking
    const tally = { ...emptyTally(), asked: targets.length }
    targets.forEach((target, i) => {
      if (this.#reportTime(target) !== before[i]) tally.stored++
      else tally.failed.push({ node: target.id, kind: 'exit', reason, thread: true })
    })
    this.#givenUp = { round, stored: tally.stored }
    this.#end(tally)
  }

  #reportTime({ slot, generation }: PlacedTarget): number {
    return reportTime(this.#memory, slot, generation)
  }

  #end(tally: Tally): void {
    const asking = this.#asking
    if (asking === undefined) return
    this.#asking = undefined
    processClock.clearTimeout(asking.timer)
    asking.resolve(tally)
  }
}
