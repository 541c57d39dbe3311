import { parentPort } from 'node:worker_threads'
import { processClock } from '../process-clock.js'
import { attachMemory } from '../table/file/open.js'
import type { Answer, Tally } from './answer.js'
import { AskedMembers, type RoundLimits } from './asked-members.js'
import type { FromWorker, ToWorker, WorkerProbe } from './protocol.js'

// The polling thread: asks the members of all pollers of one thread, and writes and publishes what they say itself.

if (parentPort === null) throw new Error('the poller’s worker runs as a worker thread alone')
const port = parentPort

type Opening = ToWorker & { readonly type: 'open' }

function say(message: FromWorker): void {
  port.postMessage(message)
}

/** One poller's part in this thread. */
class RemotePoller {
  readonly number: number
  readonly members: AskedMembers
  #late = 0
  // The answers of one turn go back in one message.
  #answers: { number: number; answer: Answer }[] = []

  constructor({ poller, table, silentFor, coalesce }: Opening) {
    this.number = poller
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
      say({ type: 'probed', poller: this.number, answers })
    })
  }
}

const pollers = new Map<number, RemotePoller>()

function take(poller: RemotePoller, message: Exclude<ToWorker, Opening>): void {
  const { number, members } = poller
  if (message.type === 'members') {
    members.change(message.removed, message.added)
    void members.prepare().then(() => say({ type: 'ready', poller: number }))
  } else if (message.type === 'forget') members.forget(message.slots)
  else if (message.type === 'probe') poller.probe(message.probes, message.timeout)
  else if (message.type === 'close') {
    pollers.delete(number)
    members.close()
  } else {
    const { round } = message
    void poller.round(message).then((tally) => {
      // Of a poller that was closed nobody waits for this.
      if (pollers.get(number) === poller) say({ type: 'done', poller: number, round, tally })
    })
  }
}

port.on('message', (message: ToWorker) => {
  if (message.type === 'open') {
    pollers.set(message.poller, new RemotePoller(message))
    return
  }
  const poller = pollers.get(message.poller)
  if (poller !== undefined) take(poller, message)
})
