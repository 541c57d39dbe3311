export * from './agent/index.js'
export { type AdaptiveAlgorithm, type AdaptiveOptions, adaptive } from './algorithms/adaptive/options.js'
export {
  type CustomAlgorithm,
  type CustomChoice,
  type CustomContext,
  type CustomNodeChange,
  type CustomOutcome,
  type CustomPicker,
  type CustomReading,
  custom,
} from './algorithms/custom/options.js'
export type { ValueColumn } from './algorithms/definition.js'
export type { Grounds, GroundsCode, LoadReason } from './algorithms/explain.js'
export { type HashRingAlgorithm, type HashRingOptions, hashRing } from './algorithms/hash-ring/options.js'
export type { NodeKey } from './algorithms/keyed.js'
export {
  type LeastConnectionsAlgorithm,
  type LeastConnectionsOptions,
  leastConnections,
} from './algorithms/least-connections/options.js'
export { type LeastCpuAlgorithm, type LeastCpuOptions, leastCpu } from './algorithms/least-cpu/options.js'
export { type LocalAlgorithm, type LocalOptions, local } from './algorithms/local/options.js'
export { type MaglevAlgorithm, type MaglevOptions, maglev } from './algorithms/maglev/options.js'
export { type PeakEwmaAlgorithm, type PeakEwmaOptions, peakEwma } from './algorithms/peak-ewma/options.js'
export {
  type PowerOfTwoAlgorithm,
  type PowerOfTwoOptions,
  powerOfTwo,
} from './algorithms/power-of-two/options.js'
export { type PrequalAlgorithm, type PrequalOptions, prequal } from './algorithms/prequal/options.js'
export { type RandomAlgorithm, type RandomOptions, random } from './algorithms/random/options.js'
export type { Algorithm, EngineAlgorithm, KeyedAlgorithm } from './algorithms/registry.js'
export {
  type RoundRobinAlgorithm,
  type RoundRobinOptions,
  roundRobin,
} from './algorithms/round-robin/options.js'
export {
  type SpareCapacityAlgorithm,
  type SpareCapacityOptions,
  spareCapacity,
} from './algorithms/spare-capacity/options.js'
export {
  type WeightBounds,
  type WeightClamp,
  type WeightedRoundRobinAlgorithm,
  type WeightedRoundRobinOptions,
  weightedRoundRobin,
} from './algorithms/weighted-round-robin/options.js'
export type { Weights } from './algorithms/weights.js'
export { type AttachOptions, attachBalancer } from './balancer/attached.js'
export { createBalancer } from './balancer/balancer.js'
export type { AttachedBalancer, Balancer, Picker } from './balancer/contract.js'
export type { CustomCounters } from './balancer/custom.js'
export { type ConfigureOptions, configure, select } from './balancer/drop-in.js'
export type { Explanation } from './balancer/explain.js'
export type { GuardCounters } from './balancer/guard.js'
export type { BalancerHandle } from './balancer/handle.js'
export type { InBandCounters, Observed, ObserveOptions } from './balancer/in-band.js'
export type { Lease, LeaseCounters, Outcome } from './balancer/lease.js'
export type { NodeLike } from './balancer/node.js'
export type {
  DiscoveryCounters,
  DiscoveryProblem,
  Following,
  FoundNode,
  NodeFollower,
  NodeSource,
} from './balancer/node-source.js'
export type { BalancerOptions, PollOptions } from './balancer/options.js'
export type { EjectionReason, HealthCounters } from './balancer/passive-health.js'
export type { PickCounters } from './balancer/pick-counters.js'
export { createTable } from './balancer/process-table.js'
export type { Reason, ReasonCode, Rules } from './balancer/reasons.js'
export type { HeaderLookup, ReportSource } from './balancer/report-headers.js'
export type { RetryBudget, RetryCounters } from './balancer/retry-budget.js'
export type { RunCall, RunOptions, Work } from './balancer/run.js'
export type { SelectOptions } from './balancer/select-options.js'
export type { EjectionSnapshot, NodeSnapshot } from './balancer/snapshot.js'
export type { MemberOrder, MemberState, Told } from './balancer/standings.js'
export type { BalancerStats } from './balancer/stats.js'
export type { SuspicionCounters, SuspicionReason } from './balancer/suspicion.js'
export type {
  FailureRateOptions,
  HealthOptions,
  SuspicionOptions,
  TrustOptions,
} from './balancer/trust-options.js'
export type { TlsSettings } from './client-tls.js'
export type { Clock, TimerHandle } from './clock.js'
export * from './discovery/index.js'
export type { EngineName } from './engine/engine.js'
export {
  BadKeyError,
  BadNodeError,
  BadReportError,
  ClosedError,
  DuplicateNodeError,
  EngineError,
  type ErrorCode,
  IdlestError,
  ListenError,
  NodeTakenError,
  NoNodesError,
  OptionError,
  PeerError,
  SamplerError,
  TableError,
  UnknownLoadError,
  UnknownNodeError,
} from './errors.js'
export { estimateFleet, type FleetEstimate, type FleetFigures } from './estimate/estimate.js'
export type { FleetInputs } from './estimate/inputs.js'
export type { AdviceStep, EstimateStep, FleetStep, LossStep, ValueStep } from './estimate/steps.js'
export type { HashName, Key } from './keys/key-hash.js'
export { type FeedLost, type FeedOptions, isView, openFeed } from './live/feed.js'
export type { LiveFacts, LiveHead, LiveNode, LivePoll, LiveView } from './live/live-view.js'
export type { ServeOptions } from './live/options.js'
export type { LiveCounters, LiveServer } from './live/server.js'
export type { ViewerCounters } from './live/viewers.js'
export type { Arrival } from './meter/arrival.js'
export { type Meter, type MeterCounters, type MeterSample, meter } from './meter/meter.js'
export type { NodeMeter } from './meter/node-meter.js'
export type { MeterOptions, NodeMeterOptions } from './meter/options.js'
export type { NatsOptions } from './nats/settings.js'
export type { AnswerCounts, PushCounts } from './poller/answer.js'
export type { PollFailure } from './poller/failures.js'
export type { PollerCounters, Readiness } from './poller/poller.js'
export type { ProbeCounters } from './poller/prober.js'
export {
  type CustomTransport,
  functionTransport,
  type Transport,
  type TransportOption,
} from './poller/transport.js'
export {
  type AgentCheckNodeOptions,
  type AgentCheckTransport,
  type AgentCheckTransportOptions,
  agentCheckTransport,
} from './poller/transports/agent-check.js'
export {
  type HttpTransport,
  type HttpTransportOptions,
  httpTransport,
} from './poller/transports/http.js'
export type { HttpNodeOptions, HttpOptions } from './poller/transports/http-endpoint.js'
export {
  type NatsTransport,
  type NatsTransportOptions,
  natsTransport,
} from './poller/transports/nats.js'
export {
  type CpuMetric,
  type NodeExporterNodeOptions,
  type NodeExporterTransport,
  type NodeExporterTransportOptions,
  nodeExporterTransport,
} from './poller/transports/node-exporter.js'
export {
  type OrcaTransport,
  type OrcaTransportOptions,
  orcaTransport,
} from './poller/transports/orca.js'
export type { PollElection } from './poller/watch-leader.js'
export type { NotAsync } from './rejections.js'
export type { KeptReport, NodeState, Report } from './report.js'
export type { CpuSource } from './reports/node-cpu.js'
export type { HeaderForm } from './reports/orca-headers.js'
export type { MetricName } from './table/layout.js'
export type { Table, TableOptions } from './table/table.js'
export type {
  CustomErrorEvent,
  DiscoveryChangeEvent,
  DiscoveryProblemEvent,
  EmptySelectEvent,
  MemberEjectedEvent,
  MemberReturnedEvent,
  MemberSuspectEvent,
  PollEvent,
  RemoteErrorEvent,
  ReportErrorEvent,
  SamplerErrorEvent,
  UnknownFieldsEvent,
  WorkerFaultEvent,
  WorkerRestartEvent,
} from './telemetry.js'
