import type { Clock } from '../clock.js'
import { shown } from '../errors.js'
import type { NodeState, Report } from '../report.js'
import { type AgentCheckReply, readAgentCheck } from '../reports/agent-check.js'
import { NODE_STATES } from '../reports/check.js'
import type { Answer } from './answer.js'
import { LineExchange } from './line-exchange.js'
import type { PlacedMember } from './member.js'
import type { MakerContext, MemberMaker } from './member-makers.js'
import { SecureContexts } from './secure-contexts.js'
import type { Sink } from './sink.js'
import type { Place } from './store.js'
import type { AgentCheckTarget } from './transports/agent-check.js'

const ADMIN_STATES = { ready: 'up', drain: 'drain', maint: 'maint' } as const

/** What an agent has said of its node so far: a reply that says nothing of one of the two leaves it as it was. */
export class SaidState {
  #admin: NodeState | undefined
  #health: NodeState | undefined

  /** The node's state after this reply, the gravest of the two; undefined where nothing was ever said of either. */
  after({ admin, health }: AgentCheckReply): NodeState | undefined {
    if (admin !== undefined) this.#admin = ADMIN_STATES[admin]
    if (health !== undefined) this.#health = health
    if (this.#admin === undefined) return this.#health
    if (this.#health === undefined) return this.#admin
    const [a, b] = [this.#admin, this.#health]
    return NODE_STATES.indexOf(a) > NODE_STATES.indexOf(b) ? a : b
  }
}

/** What a reply says of load and limits, and what is wrong in it. */
export function loadOf(
  { percent, weight, maxconn }: AgentCheckReply,
  target: Pick<AgentCheckTarget, 'weight' | 'initialWeight'>,
): { readonly report: Report; readonly wrong?: string } {
  const limit: Report = maxconn === undefined ? {} : { maxInFlight: maxconn }
  const share = percent ?? (weight === undefined ? undefined : (weight / target.initialWeight) * 100)
  if (share === undefined) return { report: limit }
  if (target.weight === 'cap') return { report: { weight: share, ...limit } }
  // More idle time than there is would be the idlest of all nodes.
  if (share <= 100) return { report: { cpu: 100 - share, ...limit } }
  return { report: limit, wrong: `${share} % idle: expected at most 100` }
}

/** A node whose agent of HAProxy's kind is asked, with its slot. */
class AgentCheckMember implements PlacedMember {
  readonly id: string
  readonly slot: number
  readonly generation: number
  readonly #target: AgentCheckTarget
  readonly #contexts: SecureContexts
  readonly #clock: Clock
  readonly #sink: Sink
  readonly #state = new SaidState()
  #exchange: LineExchange | undefined

  constructor(
    target: AgentCheckTarget,
    place: Place,
    contexts: SecureContexts,
    { clock, sink }: MakerContext,
  ) {
    this.id = target.id
    this.slot = place.slot
    this.generation = place.generation
    this.#target = target
    this.#contexts = contexts
    this.#clock = clock
    this.#sink = sink
  }

  async ask(): Promise<Answer> {
    const exchange = new LineExchange(this.#target, this.#contexts)
    this.#exchange = exchange
    const line = await exchange.line
    const at = this.#clock.now()
    // A closed socket is not kept until the next poll.
    if (this.#exchange === exchange) this.#exchange = undefined
    if (line.kind !== 'line') return line
    return this.#read(line.reply, at)
  }

  cancel(reason: string): void {
    this.#exchange?.cancel(reason)
    this.#exchange = undefined
  }

  close(): void {
    this.cancel('closed')
  }

  #read(text: Buffer, at: number): Answer {
    const reply = readAgentCheck(text)
    if (reply === undefined) return { kind: 'error', reason: 'a reply without a line end' }
    const { report, wrong: ofLoad } = loadOf(reply, this.#target)
    const said = Object.keys(report).length > 0 || reply.admin !== undefined || reply.health !== undefined
    const unknown = reply.unknown.map((word) => `${shown(word)}: an unknown word`)
    const wrong = [...unknown, ...reply.errors, ...(ofLoad === undefined ? [] : [ofLoad])].join('; ')
    if (!said) return wrong === '' ? { kind: 'heard' } : { kind: 'error', reason: wrong }
    if (wrong !== '') this.#sink.bad(this, wrong)
    const state = this.#state.after(reply)
    if (state !== undefined) report.state = state
    return { kind: 'report', report, at }
  }
}

/** Makes the members of one poller whose agents are of HAProxy's kind; they share TLS contexts. */
export class AgentCheckMembers implements MemberMaker<AgentCheckTarget> {
  readonly #contexts = new SecureContexts()
  readonly #context: MakerContext

  constructor(context: MakerContext) {
    this.#context = context
  }

  make(target: AgentCheckTarget, place: Place): PlacedMember {
    return new AgentCheckMember(target, place, this.#contexts, this.#context)
  }
}
