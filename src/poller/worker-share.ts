import type { TimerHandle } from '../clock.js'
import { processClock } from '../process-clock.js'
import type { TableSource } from '../table/table.js'
import { emptyTally, type FailedNode, type Tally } from './answer.js'
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
  timer: TimerHandle
}

/** Has one polling thread ask, under the process's own clock. */
export class WorkerShare implements Share, HostClient {
  readonly #host: WorkerHost
  readonly #table: TableSource
  readonly #settings: AskSettings
  readonly #listener: ShareListener
  readonly #targets = new Map<number, PlacedTarget>()
  #number = 0
  #round = 0
  #asking: Asking | undefined

  constructor(host: WorkerHost, table: TableSource, settings: AskSettings, listener: ShareListener) {
    this.#host = host
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
      this.#asking = { round, deadline, timeout, resolve, timer }
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
    else this.#listener.onLate(tally.stored + tally.older + tally.empty + tally.late)
  }

  onAside({ aside }: AsideMessage): void {
    this.#listener.onAside(aside)
  }

  onCrash(reason: string): void {
    this.#end(this.#allFailed(`the polling thread ended: ${reason}`))
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
      this.#end(this.#allFailed('no word from the polling thread'))
    }, GRACE)
  }

  #allFailed(reason: string): Tally {
    const failed = [...this.#targets.values()].map(
      ({ id }): FailedNode => ({ node: id, kind: 'exit', reason, thread: true }),
    )
    return { ...emptyTally(), asked: failed.length, failed }
  }

  #end(tally: Tally): void {
    const asking = this.#asking
    if (asking === undefined) return
    this.#asking = undefined
    processClock.clearTimeout(asking.timer)
    asking.resolve(tally)
  }
}
