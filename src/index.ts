export * from './agent/index.js'
export type { Algorithm } from './algorithms/algorithm.js'
export { type LeastConnectionsOptions, leastConnections } from './algorithms/least-connections.js'
export { type LeastCpuOptions, leastCpu } from './algorithms/least-cpu.js'
export { type PowerOfTwoOptions, powerOfTwo } from './algorithms/power-of-two.js'
export { random } from './algorithms/random.js'
export { roundRobin } from './algorithms/round-robin.js'
export { type SpareCapacityOptions, spareCapacity } from './algorithms/spare-capacity.js'
export { type AttachedBalancer, type AttachOptions, attachBalancer } from './balancer/attached.js'
export { type Balancer, type BalancerStats, createBalancer } from './balancer/balancer.js'
export { type ConfigureOptions, configure, select } from './balancer/drop-in.js'
export type { BalancerHandle } from './balancer/handle.js'
export type { Lease, LeaseCounters, Outcome } from './balancer/lease.js'
export type { MemberState } from './balancer/members.js'
export type { NodeLike } from './balancer/node.js'
export type { BalancerOptions, PollOptions } from './balancer/options.js'
export { createTable } from './balancer/process-table.js'
export type { SelectOptions } from './balancer/select-options.js'
export type { NodeSnapshot } from './balancer/snapshot.js'
export type { Clock } from './clock.js'
export {
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
  SamplerError,
  TableError,
  UnknownLoadError,
  UnknownNodeError,
} from './errors.js'
export type { Arrival } from './meter/arrival.js'
export { type Meter, type MeterCounters, type MeterSample, meter } from './meter/meter.js'
export type { NodeMeter } from './meter/node-meter.js'
export type { MeterOptions, NodeMeterOptions } from './meter/options.js'
export type { PollerCounters } from './poller/poller.js'
export {
  type CustomTransport,
  type HttpNodeOptions,
  type HttpTransport,
  type HttpTransportOptions,
  httpTransport,
  type TlsSettings,
  type Transport,
} from './poller/transport.js'
export type { Report } from './report.js'
export type { Table, TableOptions } from './table/table.js'
export type {
  EmptySelectEvent,
  PollEvent,
  RemoteErrorEvent,
  SamplerErrorEvent,
  WorkerRestartEvent,
} from './telemetry.js'
