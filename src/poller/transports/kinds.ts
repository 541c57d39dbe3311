import { type AgentCheckSettings, type AgentCheckTarget, resolveAgentCheck } from './agent-check.js'
import { type HttpSettings, type HttpTarget, resolveHttp } from './http.js'
import { type NatsTarget, type NatsTransportSettings, resolveNats } from './nats.js'
import { type NodeExporterSettings, type NodeExporterTarget, resolveNodeExporter } from './node-exporter.js'
import { type OrcaSettings, type OrcaTarget, resolveOrca } from './orca.js'

/**
 * The built-in kinds of transport: of each the settings, and the target that a node is resolved to. A new kind is a line
 * here, one in `resolvers`, and one in the loaders of `member-makers.ts`.
 */
interface Kinds {
  http: { settings: HttpSettings; target: HttpTarget }
  orca: { settings: OrcaSettings; target: OrcaTarget }
  nats: { settings: NatsTransportSettings; target: NatsTarget }
  'agent-check': { settings: AgentCheckSettings; target: AgentCheckTarget }
  'node-exporter': { settings: NodeExporterSettings; target: NodeExporterTarget }
}

/** A built-in kind of transport. */
export type Kind = keyof Kinds

/** A built-in transport: plain data. */
export type BuiltInTransport<K extends Kind = Kind> = {
  [P in K]: { readonly kind: P; readonly settings: Kinds[P]['settings'] }
}[K]

/** Where and how one node is asked: plain data, for any thread. */
export type Target<K extends Kind = Kind> = {
  [P in K]: Kinds[P]['target'] & { readonly kind: P; readonly id: string }
}[K]

// Each throws an Error that says why a node can't be asked.
const resolvers: {
  readonly [K in Kind]: (id: string, settings: Kinds[K]['settings']) => Kinds[K]['target']
} = {
  http: resolveHttp,
  orca: resolveOrca,
  nats: resolveNats,
  'agent-check': resolveAgentCheck,
  'node-exporter': resolveNodeExporter,
}

/** Works out how a node is asked. Throws an Error that says why it can't be. */
export function resolveBuiltIn<K extends Kind>(
  id: string,
  { kind, settings }: BuiltInTransport<K>,
): Kinds[K]['target'] {
  return resolvers[kind](id, settings)
}

/** Whether this is a built-in transport. */
export function isBuiltIn(value: object): value is BuiltInTransport {
  return (
    'kind' in value &&
    typeof value.kind === 'string' &&
    Object.hasOwn(resolvers, value.kind) &&
    'settings' in value
  )
}

// Those whose nodes tell by themselves, through a stream or a subscription that their members keep.
const UNASKED: ReadonlySet<string> = new Set<Kind>(['nats', 'orca'])

/** Whether nodes of this kind tell unasked: then it makes no sense to probe them. */
export function tellsUnasked(kind: string): boolean {
  return UNASKED.has(kind)
}
