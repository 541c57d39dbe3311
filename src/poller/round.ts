import type { Clock, TimerHandle } from '../clock.js'
import { reasonOf } from '../errors.js'
import type { StoreResult } from '../table/report.js'
import { type Answer, emptyTally, type Failure, type Tally } from './answer.js'

/** Members that are asked in one turn of the event loop, where others are asked in the next. */
const WAVE = 64

/** A remote that a round asks. */
export interface Member {
  readonly id: string
  /** Asks for the latest report. */
  ask(): Promise<Answer>
  /** Gives up on the answer: nobody waits for it any more. */
  cancel(reason: string): void
}

/** What a round works with. */
export interface RoundOptions<M extends Member> {
  readonly clock: Clock
  /** Longest time of the round, ms. */
  readonly timeout: number
  /** What messages call the time-out, ms; default `timeout`. */
  readonly limit?: number | undefined
  /** Runs its argument when all that has arrived by now was taken in; default: at once. */
  readonly lastCall?: ((run: () => void) => void) | undefined
  /** Runs its argument when what has arrived by now was taken in: between waves of asks. Default: all are asked at once. */
  readonly betweenWaves?: ((run: () => void) => void) | undefined
  /** Writes a report; what it throws makes the member fail with `error`. */
  readonly store: (member: M, answer: Answer & { kind: 'report' }) => StoreResult
  /** Whether the member need not be asked; default: all are. */
  readonly isFresh?: ((member: M) => boolean) | undefined
  /** Whether the round ended before it could be aborted: asking a member may run the user's code. Default: never. */
  readonly isOver?: (() => boolean) | undefined
  /** A report came after its member or its round was given up on. */
  readonly onLate: () => void
}

/**
 * Asks every member at once and stores what they answer. Ends when all have answered or failed, and by its time-out
 * whatever they do; then those that have not answered have failed with `exit`.
 */
export class Round<M extends Member> {
  /** Resolves when the round has ended; never rejects. */
  readonly done: Promise<Tally>
  readonly #options: RoundOptions<M>
  readonly #tally = emptyTally()
  readonly #open = new Set<M>()
  readonly #dropped = new Set<M>()
  readonly #timer: TimerHandle
  readonly #resolve: (tally: Tally) => void
  #ended = false

  constructor(members: Iterable<M>, options: RoundOptions<M>) {
    this.#options = options
    let resolve: (tally: Tally) => void = () => {}
    this.done = new Promise((settle) => {
      resolve = settle
    })
    this.#resolve = resolve
    for (const member of members) {
      if (options.isFresh?.(member)) this.#tally.fresh++
      else this.#open.add(member)
    }
    this.#tally.asked = this.#open.size
    this.#timer = options.clock.setTimeout(() => {
      const giveUp = () => this.#giveUp(`no answer within ${options.limit ?? options.timeout} ms`)
      if (options.lastCall === undefined) giveUp()
      else options.lastCall(giveUp)
    }, options.timeout)
    this.#askFrom([...this.#open], 0)
    this.#endIfAll()
  }

  /** The member left: its answer is not waited for, and dropped should it come. */
  drop(member: M): void {
    if (!this.#open.delete(member)) return
    this.#dropped.add(member)
    this.#tally.left++
    member.cancel('the node left')
    this.#endIfAll()
  }

  /** Ends the round at once; members that have not answered count as neither answered nor failed. */
  abort(reason: string): void {
    for (const member of this.#takeOpen()) member.cancel(reason)
    this.#end()
  }

  // In waves, so that where there is more to do than time for it, some have answered rather than all are half-way.
  #askFrom(members: readonly M[], start: number): void {
    const { betweenWaves, isOver } = this.#options
    const end = betweenWaves === undefined ? members.length : Math.min(start + WAVE, members.length)
    for (let index = start; index < end; index++) {
      const member = members[index] as M
      // Asking one may run the user's code, which may make another leave.
      if (this.#open.has(member)) this.#ask(member)
      if (isOver?.()) this.abort('the poller was closed')
    }
    if (end < members.length && !this.#ended) betweenWaves?.(() => this.#askFrom(members, end))
  }

  #ask(member: M): void {
    member.ask().then(
      (answer) => this.#settle(member, answer),
      (error: unknown) => this.#settle(member, { kind: 'exit', reason: reasonOf(error) }),
    )
  }

  #settle(member: M, answer: Answer): void {
    if (!this.#open.delete(member)) {
      if (answer.kind === 'report' && !this.#dropped.has(member)) this.#options.onLate()
      return
    }
    if (answer.kind === 'report') this.#store(member, answer)
    else if (answer.kind === 'heard') this.#tally.heard++
    else this.#fail(member, answer)
    this.#endIfAll()
  }

  #store(member: M, answer: Answer & { kind: 'report' }): void {
    try {
      this.#tally[this.#options.store(member, answer)]++
    } catch (error) {
      this.#fail(member, { kind: 'error', reason: reasonOf(error) })
    }
  }

  #fail(member: M, { kind, reason }: Failure): void {
    this.#tally.failed.push({ node: member.id, kind, reason })
  }

  #giveUp(reason: string): void {
    const open = this.#takeOpen()
    for (const member of open) this.#fail(member, { kind: 'exit', reason })
    this.#end()
    // To close thousands of connections takes long: who waits for the end of the round hears of it before.
    const { betweenWaves = (run) => run() } = this.#options
    betweenWaves(() => {
      for (const member of open) member.cancel(reason)
    })
  }

  #takeOpen(): M[] {
    const open = [...this.#open]
    this.#open.clear()
    return open
  }

  #endIfAll(): void {
    if (this.#open.size === 0) this.#end()
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#options.clock.clearTimeout(this.#timer)
    this.#resolve(this.#tally)
  }
}
