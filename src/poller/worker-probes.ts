import type { TimerHandle } from '../clock.js'
import { processClock } from '../process-clock.js'
import type { Entry, TableSource } from '../table/table.js'
import type { Answer } from './answer.js'
import type { TargetProbes } from './probes.js'
import type { Probed, WorkerProbe } from './protocol.js'
import type { LocalTarget, PlacedTarget } from './targets.js'
import type { HostClient, WorkerHost } from './worker-host.js'

// The thread ends a probe by its time-out itself; it gets this much longer to say so, ms.
const GRACE = 150

type Settle = (answer: Answer) => void

interface UnderWay {
  readonly slot: number
  readonly settle: Settle
  /** When the thread has had its time, ms. */
  readonly deadline: number
}

/** Has the polling thread ask: what is asked in one turn goes there in one message. */
export class WorkerProbes implements TargetProbes, HostClient {
  readonly #table: TableSource
  readonly #host: WorkerHost
  readonly #timeout: number
  // What the thread knows, or is about to be told.
  readonly #targets = new Map<Entry, PlacedTarget>()
  // By number, in the order in which they were asked for.
  readonly #underWay = new Map<number, UnderWay>()
  #next = 1
  #timer: TimerHandle
  #timed = false
  #added: PlacedTarget[] = []
  #removed: number[] = []
  #probes: WorkerProbe[] = []
  #number = 0
  #flushing = false
  #closed = false

  constructor(table: TableSource, host: WorkerHost, timeout: number) {
    this.#table = table
    this.#host = host
    this.#timeout = timeout
  }

  setMembers(entries: readonly Entry[]): void {
    const staying = new Set(entries)
    for (const [entry, { slot }] of this.#targets) {
      if (staying.has(entry)) continue
      this.#targets.delete(entry)
      this.#added = this.#added.filter((target) => target.slot !== slot)
      this.#removed.push(slot)
      for (const [number, probe] of this.#underWay) {
        if (probe.slot === slot) this.#settle(number, { kind: 'exit', reason: 'the node left' })
      }
      this.#flushLater()
    }
  }

  ask(entry: Entry, target: LocalTarget, settle: Settle): void {
    const { slot } = entry
    if (target.kind !== 'custom' && !this.#targets.has(entry)) {
      this.#targets.set(entry, target)
      this.#added.push(target)
    }
    const number = this.#next++
    this.#underWay.set(number, { slot, settle, deadline: processClock.now() + this.#timeout + GRACE })
    this.#probes.push({ number, slot })
    this.#awaitDeadlines()
    this.#flushLater()
  }

  close(): void {
    this.#closed = true
    if (this.#timed) processClock.clearTimeout(this.#timer)
    this.#underWay.clear()
    if (this.#number > 0) void this.#host.detach(this.#number)
  }

  onStart(): void {
    this.#host.post({ type: 'open', poller: this.#number, table: this.#table, silentFor: 0, coalesce: 0 })
    this.#removed = []
    this.#added = [...this.#targets.values()]
    this.#flush()
  }

  onDone(): void {}

  onProbed({ answers }: Probed): void {
    for (const { number, answer } of answers) this.#settle(number, answer)
  }

  onCrash(reason: string): void {
    for (const number of [...this.#underWay.keys()]) {
      this.#fail(number, `the polling thread ended: ${reason}`)
    }
  }

  #flushLater(): void {
    if (this.#flushing) return
    this.#flushing = true
    queueMicrotask(() => {
      this.#flushing = false
      if (this.#closed) return
      if (this.#number === 0) {
        this.#number = this.#host.attach(this)
        this.onStart()
      } else this.#flush()
    })
  }

  #flush(): void {
    const poller = this.#number
    const [added, removed, probes] = [this.#added, this.#removed, this.#probes]
    this.#added = []
    this.#removed = []
    this.#probes = []
    if (added.length > 0 || removed.length > 0) {
      this.#host.post({ type: 'members', poller, removed, added })
    }
    if (probes.length === 0) return
    if (this.#host.post({ type: 'probe', poller, probes, timeout: this.#timeout })) return
    // The next thread is told of the members alone.
    for (const { number } of probes) this.#fail(number, 'there is no polling thread at present')
  }

  // The thread may hang: one timer for the first of all deadlines.
  #awaitDeadlines(): void {
    if (this.#timed) return
    this.#timed = true
    this.#timer = processClock.setTimeout(() => {
      this.#timed = false
      const now = processClock.now()
      for (const [number, { deadline }] of this.#underWay) {
        if (deadline > now) break
        this.#fail(number, 'no word from the polling thread')
      }
      if (this.#underWay.size > 0 && !this.#closed) this.#awaitDeadlines()
    }, this.#timeout + GRACE)
  }

  #fail(number: number, reason: string): void {
    this.#settle(number, { kind: 'exit', reason })
  }

  #settle(number: number, answer: Answer): void {
    const probe = this.#underWay.get(number)
    this.#underWay.delete(number)
    probe?.settle(answer)
  }
}
