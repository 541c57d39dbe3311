export type { Pem } from '../pem.js'
export type { Address, ListenCounters } from '../web/listening.js'
export type { ServerTls, WebServerCounters } from '../web/web-server.js'
export { type Agent, type AgentCounters, createAgent } from './agent.js'
export type { AgentCheckCounters } from './agent-check-server.js'
export type { GrpcCounters } from './grpc-server.js'
export * from './middleware/index.js'
export type { NamedCounters, NamedValue } from './named-metrics.js'
export type { NatsPublisherOptions } from './nats-options.js'
export type { NatsAddress, NatsPublisherCounters } from './nats-publisher.js'
export type { AgentCheckOptions, AgentOptions, GrpcOptions } from './options.js'
export type { OrcaCall, OrcaStatus } from './orca-call.js'
export {
  type OrcaService,
  type OrcaServiceCounters,
  type OrcaServiceDefinition,
  type OrcaServiceOptions,
  orcaService,
} from './orca-service.js'
export type { UtilizationParts } from './parts.js'
export type { ReportServerCounters } from './report-server.js'
export * from './samplers/index.js'
export type { SamplingCounters } from './sampling.js'
export type { AgentServersCounters } from './servers.js'
export type { ServedRequest, Traffic, TrafficCounters, TrafficReport } from './traffic.js'
export type { Utilization, UtilizationOptions } from './utilization.js'
