import { parentPort } from 'node:worker_threads'
import { processClock } from '../process-clock.js'
import { TableMemory } from '../table/memory.js'
import type { Answer } from './answer.js'
import { type HttpMember, HttpMembers } from './http-member.js'
import type { Done, FromWorker, ToWorker, WorkerProbe, WorkerTarget } from './protocol.js'
import { Round } from './round.js'
import { Singles } from './singles.js'
import { storeReport } from './store.js'

// The polling thread: asks the members of all pollers of one thread, and writes the readings itself.

/** One poller's part in this thread. */
class RemotePoller {
  readonly #memory: TableMemory
  readonly #members = new Map<number, HttpMember>()
  readonly #http = new HttpMembers(() => processClock.now())
  #round: Round<HttpMember> | undefined
  #late = 0
  readonly #singles = new Singles<HttpMember>({ clock: processClock, lastCall: setImmediate })

  constructor(buffer: SharedArrayBuffer) {
    this.#memory = new TableMemory(buffer)
  }

  change(removed: readonly number[], added: readonly WorkerTarget[]): void {
    for (const slot of removed) {
      const member = this.#members.get(slot)
      if (member === undefined) continue
      this.#members.delete(slot)
      this.#round?.drop(member)
      this.#singles.drop(member)
      member.close()
    }
    for (const target of added) this.#members.set(target.slot, this.#http.make(target, target))
  }

  async round(deadline: number, timeout: number): Promise<Done['tally']> {
    this.#round?.abort('the next round began')
    const round = new Round(this.#members.values(), {
      clock: processClock,
      timeout: Math.max(0, deadline - processClock.now()),
      limit: timeout,
      // Where the thread was held up, timers come before the answers that wait in the sockets.
      lastCall: setImmediate,
      store: (member, { report, at }) => storeReport(this.#memory, member, report, at),
      onLate: () => this.#late++,
    })
    this.#round = round
    const tally = await round.done
    tally.late += this.#late
    this.#late = 0
    return tally
  }

  /** Asks one member by itself. */
  async probe(slot: number, timeout: number): Promise<Answer> {
    const member = this.#members.get(slot)
    if (member === undefined) return { kind: 'exit', reason: 'the node left' }
    return this.#singles.ask(member, timeout)
  }

  close(): void {
    this.#singles.close()
    this.#round?.abort('the poller was closed')
    for (const member of this.#members.values()) member.close()
    this.#members.clear()
  }
}

if (parentPort === null) throw new Error('the poller’s worker runs as a worker thread alone')
const port = parentPort
const pollers = new Map<number, RemotePoller>()

// The answers of one turn go back in one message.
const answers = new Map<number, { number: number; answer: Answer }[]>()

function answerProbe(poller: number, number: number, answer: Answer): void {
  const waiting = answers.get(poller)
  if (waiting !== undefined) {
    waiting.push({ number, answer })
    return
  }
  answers.set(poller, [{ number, answer }])
  setImmediate(() => {
    const settled = answers.get(poller) ?? []
    answers.delete(poller)
    port.postMessage({ type: 'probed', poller, answers: settled } satisfies FromWorker)
  })
}

function probe(poller: RemotePoller, number: number, probes: readonly WorkerProbe[], timeout: number): void {
  for (const { number: probe, slot } of probes) {
    poller.probe(slot, timeout).then((answer) => answerProbe(number, probe, answer))
  }
}

port.on('message', (message: ToWorker) => {
  const { poller: number } = message
  if (message.type === 'open') {
    pollers.set(number, new RemotePoller(message.buffer))
    return
  }
  const poller = pollers.get(number)
  if (poller === undefined) return
  if (message.type === 'members') poller.change(message.removed, message.added)
  else if (message.type === 'probe') probe(poller, number, message.probes, message.timeout)
  else if (message.type === 'close') {
    pollers.delete(number)
    poller.close()
  } else {
    const { round } = message
    poller.round(message.deadline, message.timeout).then((tally) => {
      // Of a poller that was closed nobody waits for this.
      if (pollers.get(number) !== poller) return
      port.postMessage({ type: 'done', poller: number, round, tally } satisfies FromWorker)
    })
  }
})

port.postMessage({ type: 'ready' } satisfies FromWorker)
