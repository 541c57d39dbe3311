import { reasonOf } from '../errors.js'
import { processClock } from '../process-clock.js'
import { attachMemory } from '../table/file/open.js'
import type { Answer, Tally } from './answer.js'
import { AskedMembers, type RoundLimits } from './asked-members.js'
import type { FromWorker, ToWorker, WorkerProbe } from './protocol.js'
import { takeTouched } from './touched.js'

type Opening = ToWorker & { readonly type: 'open' }
type Say = (message: FromWorker) => void

/** One poller's part in the polling thread. */
class RemotePoller {
  readonly number: number
  readonly members: AskedMembers
  readonly #say: Say
  #late = 0
  // The answers of one turn go back in one message.
  #answers: { number: number; answer: Answer }[] = []

  constructor({ poller, table, silentFor, coalesce }: Opening, say: Say) {
    this.number = poller
    this.#say = say
    this.members = new AskedMembers({
      memory: attachMemory(table, 'reports'),
      clock: processClock,
      silentFor,
      coalesce,
      // Where the thread was held up, timers come before the answers that wait in the sockets.
      lastCall: setImmediate,
      betweenWaves: setImmediate,
      onLate: () => this.#late++,
      onAside: (aside) => say({ type: 'aside', poller, aside }),
    })
  }

  async round(limits: RoundLimits): Promise<Tally> {
    const tally = await this.members.round(limits)
    tally.late += this.#late
    this.#late = 0
    return tally
  }

  probe(probes: readonly WorkerProbe[], timeout: number): void {
    for (const { number, slot } of probes) {
      this.members.ask(slot, timeout).then((answer) => this.#answer(number, answer))
    }
  }

  #answer(number: number, answer: Answer): void {
    this.#answers.push({ number, answer })
    if (this.#answers.length > 1) return
    setImmediate(() => {
      const answers = this.#answers
      this.#answers = []
      this.#say({ type: 'probed', poller: this.number, answers })
    })
  }
}

/** Asks the members of all pollers of one thread, and writes and publishes what they say itself. */
export class RemotePollers {
  readonly #say: Say
  readonly #pollers = new Map<number, RemotePoller>()

  /** @param say takes what the thread of the pollers is to hear */
  constructor(say: Say) {
    this.#say = say
  }

  /** Takes a message; what goes wrong with it concerns nobody else. */
  take(message: ToWorker): void {
    try {
      this.#dispatch(message)
    } catch (error) {
      this.#say({ type: 'fault', reason: reasonOf(error) })
    }
  }

  /**
   * Takes an exception that nobody caught. The member that was worked for last is left out for a while; the others are asked
   * on, since ending the thread would leave them all without reports, and would not end what the one does.
   */
  caught(error: unknown): void {
    const touched = takeTouched()
    for (const { members } of this.#pollers.values()) {
      if (touched !== undefined && members.blame(touched, error)) return
    }
    this.#say({ type: 'fault', reason: reasonOf(error) })
  }

  #dispatch(message: ToWorker): void {
    if (message.type === 'open') {
      this.#pollers.set(message.poller, new RemotePoller(message, this.#say))
      return
    }
    const poller = this.#pollers.get(message.poller)
    if (poller !== undefined) this.#take(poller, message)
  }

  /** Lets go of all tables and connections. */
  close(): void {
    for (const { members } of this.#pollers.values()) members.close()
    this.#pollers.clear()
  }

  #take(poller: RemotePoller, message: Exclude<ToWorker, Opening>): void {
    const { number, members } = poller
    if (message.type === 'members') {
      members.change(message.removed, message.added)
      void members.prepare().then(() => this.#say({ type: 'ready', poller: number }))
    } else if (message.type === 'forget') members.forget(message.slots)
    else if (message.type === 'probe') poller.probe(message.probes, message.timeout)
    else if (message.type === 'close') {
      this.#pollers.delete(number)
      members.close()
    } else {
      const { round } = message
      void poller.round(message).then((tally) => {
        // Of a poller that was closed nobody waits for this.
        if (this.#pollers.get(number) === poller) this.#say({ type: 'done', poller: number, round, tally })
      })
    }
  }
}
