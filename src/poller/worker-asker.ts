import type { TimerHandle } from '../clock.js'
import { processClock } from '../process-clock.js'
import type { TableMemory } from '../table/memory.js'
import type { Entry } from '../table/table.js'
import { addTally, emptyTally, type FailedNode, type Tally } from './answer.js'
import type { Asker } from './asker.js'
import { isTarget, resolveTarget } from './http-target.js'
import type { Done, WorkerTarget } from './protocol.js'
import { Roster } from './roster.js'
import type { HttpTransport } from './transport.js'
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

/** One poller's members in one polling thread. */
export class Share implements HostClient {
  readonly #host: WorkerHost
  readonly #buffer: SharedArrayBuffer
  readonly #onLate: (reports: number) => void
  readonly #targets = new Map<number, WorkerTarget>()
  #number = 0
  #round = 0
  #asking: Asking | undefined

  constructor(host: WorkerHost, buffer: SharedArrayBuffer, onLate: (reports: number) => void) {
    this.#host = host
    this.#buffer = buffer
    this.#onLate = onLate
  }

  get size(): number {
    return this.#targets.size
  }

  /** Takes part in the thread from the first member on. */
  change(removed: readonly number[], added: readonly WorkerTarget[]): void {
    for (const slot of removed) this.#targets.delete(slot)
    for (const target of added) this.#targets.set(target.slot, target)
    if (this.#number !== 0) this.#host.post({ type: 'members', poller: this.#number, removed, added })
    else if (this.#targets.size > 0) this.#attach()
  }

  get attached(): boolean {
    return this.#number !== 0
  }

  ready(): Promise<void> {
    return this.#host.ready()
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
    this.#host.post({ type: 'open', poller: this.#number, buffer: this.#buffer })
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
    else this.#onLate(tally.stored + tally.older + tally.empty + tally.late)
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

/** Has the polling threads ask: for HTTP under the process's own clock. */
export class WorkerAsker implements Asker {
  readonly #transport: HttpTransport
  readonly #shares: readonly Share[]
  readonly #roster = new Roster()
  readonly #unaskable = new Map<number, FailedNode>()
  #entries: readonly Entry[] = []
  #changed = false
  #asking = false
  #flushing = false
  #closed = false

  constructor(
    memory: TableMemory,
    transport: HttpTransport,
    hosts: readonly WorkerHost[],
    onLate: (reports: number) => void,
  ) {
    this.#transport = transport
    this.#shares = hosts.map((host) => new Share(host, memory.buffer as SharedArrayBuffer, onLate))
  }

  setMembers(entries: readonly Entry[]): void {
    this.#entries = entries
    this.#changed = true
    if (this.#flushing) return
    // Otherwise the next round finds it. Before the first one, so that the thread starts in good time.
    if (!this.#asking && this.#shares.some(({ attached }) => attached)) return
    this.#flushing = true
    // Many changes in a row are told at once.
    queueMicrotask(() => {
      this.#flushing = false
      this.#flush()
    })
  }

  async prepare(): Promise<void> {
    this.#flush()
    await Promise.all(this.#shares.map((share) => share.ready()))
  }

  async round(timeout: number): Promise<Tally> {
    if (this.#closed) return emptyTally()
    this.#flush()
    this.#asking = true
    const sum = emptyTally()
    sum.asked = this.#unaskable.size
    // One by one: so many arguments as there may be nodes overflow the stack.
    for (const failed of this.#unaskable.values()) sum.failed.push(failed)
    const busy = this.#shares.filter(({ size }) => size > 0)
    for (const tally of await Promise.all(busy.map((share) => share.round(timeout)))) addTally(sum, tally)
    this.#asking = false
    return sum
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await Promise.all(this.#shares.map((share) => share.close()))
  }

  #flush(): void {
    if (!this.#changed || this.#closed) return
    this.#changed = false
    const { added, removed } = this.#roster.update(this.#entries)
    if (added.length === 0 && removed.length === 0) return
    const parts = this.#shares.map(() => ({ removed: [] as number[], added: [] as WorkerTarget[] }))
    const partOf = (slot: number) => parts[slot % parts.length] as (typeof parts)[number]
    for (const { slot } of removed) {
      if (!this.#unaskable.delete(slot)) partOf(slot).removed.push(slot)
    }
    for (const { id, slot, generation } of added) {
      const target = resolveTarget(id, this.#transport)
      if (isTarget(target)) partOf(slot).added.push({ ...target, slot, generation })
      else this.#unaskable.set(slot, { node: id, kind: 'error', reason: target.reason })
    }
    for (const [index, part] of parts.entries()) {
      if (part.added.length > 0 || part.removed.length > 0)
        this.#shares[index]?.change(part.removed, part.added)
    }
  }
}
