import type { Clock } from '../clock.js'
import { OptionError } from '../errors.js'
import type { Agent } from './agent.js'
import type { Reporter } from './reporter.js'

/** What an agent is made of, for what is added to it by functions that take one. */
export interface AgentParts {
  readonly reporter: Reporter
  readonly clock: Clock
  /** What ends with the agent. */
  readonly added: { close(): Promise<void> }[]
}

const known = new WeakMap<Agent, AgentParts>()

/** Remembers what an agent is made of. */
export function keepParts(agent: Agent, parts: AgentParts): void {
  known.set(agent, parts)
}

/** @throws OptionError for what `createAgent` did not make */
export function partsOf(agent: Agent): AgentParts {
  const parts = known.get(agent)
  if (parts === undefined) throw new OptionError('agent', agent, 'what createAgent() resolved to')
  return parts
}
