/** What a metric is, by the names and units of OpenTelemetry's conventions: seconds, 1 for ratios, {things}. */
export interface Metric {
  readonly name: string
  /** `counter`: only grows. `gauge`: as it is at the time. `histogram`: of what happens in between. */
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly unit: string
  readonly description: string
  /** Its attributes beside the balancer's name. */
  readonly attributes: readonly Attribute[]
  /** What several values come to as one: those of the nodes that have no series of their own, or of several processes. */
  readonly together: 'sum' | 'max' | 'mean'
}

/** The attribute that all metrics have. */
export const BALANCER = 'idlest.balancer.name'
export const NODE = 'idlest.node.id'
export const REASON = 'idlest.reason'
export const STATE = 'idlest.node.state'
export const OUTCOME = 'idlest.outcome'
export const SOURCE = 'idlest.report.source'
export const ENGINE = 'idlest.engine'
export const ALGORITHM = 'idlest.algorithm'
/** By OpenTelemetry's conventions. */
export const ERROR_TYPE = 'error.type'

export type Attribute =
  | typeof NODE
  | typeof REASON
  | typeof STATE
  | typeof OUTCOME
  | typeof SOURCE
  | typeof ENGINE
  | typeof ALGORITHM
  | typeof ERROR_TYPE

/** The node of what is told of all nodes together that have no series of their own. */
export const OTHER = 'other'

/** Bounds of the histogram of poll durations, seconds: those of OpenTelemetry's for requests. */
export const DURATION_BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
]

function counter(
  name: string,
  unit: string,
  description: string,
  attributes: readonly Attribute[] = [],
): Metric {
  return { name, kind: 'counter', unit, description, attributes, together: 'sum' }
}

function gauge(
  name: string,
  unit: string,
  description: string,
  attributes: readonly Attribute[],
  together: Metric['together'],
): Metric {
  return { name, kind: 'gauge', unit, description, attributes, together }
}

/** Every metric there is, by what it is called here. */
export const METRICS = {
  picks: counter(
    'idlest.picks',
    '{pick}',
    'Picks by node. Those from arrays, and of nodes that have left since, are of node "other".',
    [NODE],
  ),
  emptyPicks: counter(
    'idlest.empty_picks',
    '{pick}',
    'Picks that gave nothing: no_node where none could be picked, no_load where none had a known load.',
    [REASON],
  ),
  fallbacks: counter(
    'idlest.fallbacks',
    '{fallback}',
    'Picks that went on without what the algorithm goes by (no_key, empty_pool, bad_pick) or without limits (all_limited), and times that members came in that were down or ejected, as all were (all_ill).',
    [REASON],
  ),
  passedOver: counter(
    'idlest.passed_over',
    '{draw}',
    'Draws that passed over a member: for its weight, its limit of requests in flight, or its share of the picks.',
    [REASON],
  ),
  leases: counter('idlest.leases', '{lease}', 'Leases released, by node and what became of them.', [
    NODE,
    OUTCOME,
  ]),
  ejections: counter(
    'idlest.ejections',
    '{ejection}',
    'Times that members were ejected for failed requests.',
  ),
  polled: counter('idlest.poll.requests', '{request}', 'Members that were asked for a report.'),
  pollErrors: counter(
    'idlest.poll.errors',
    '{error}',
    'Members that could not be read: exit where they refused, timed out or closed, error for a bad answer.',
    [ERROR_TYPE],
  ),
  reports: counter('idlest.reports', '{report}', 'Reports that became the reading of their node.', [SOURCE]),
  pollDuration: {
    name: 'idlest.poll.duration',
    kind: 'histogram',
    unit: 's',
    description: 'How long poll cycles took.',
    attributes: [ERROR_TYPE],
    together: 'sum',
  },
  poolSize: gauge('idlest.pool.size', '{node}', 'Members by state.', [STATE], 'max'),
  poolFresh: gauge(
    'idlest.pool.fresh',
    '{node}',
    'Members with a report that is no older than ttl.',
    [],
    'max',
  ),
  bandSize: gauge(
    'idlest.band.size',
    '{node}',
    'Members that may be picked now, by the algorithm.',
    [],
    'max',
  ),
  inFlight: gauge(
    'idlest.node.in_flight',
    '{request}',
    'Requests in flight at a node by this process, over all its balancers.',
    [NODE],
    'sum',
  ),
  age: gauge(
    'idlest.node.reading.age',
    's',
    'Age of the sample that the algorithm goes by; the oldest for node "other".',
    [NODE],
    'max',
  ),
  cpu: gauge(
    'idlest.node.cpu.utilization',
    '1',
    'CPU of the reading, however old; the mean for node "other".',
    [NODE],
    'mean',
  ),
  share: gauge(
    'idlest.node.share',
    '1',
    'The chance that the next draw is this node, before limits.',
    [NODE],
    'sum',
  ),
  weight: gauge(
    'idlest.node.weight',
    '{weight}',
    'Weight by the algorithm, learned or fixed.',
    [NODE],
    'sum',
  ),
  cost: gauge(
    'idlest.node.expected_duration',
    's',
    'What adaptive expects a request to take; the longest for node "other".',
    [NODE],
    'max',
  ),
  info: gauge(
    'idlest.info',
    '{balancer}',
    '1 for each balancer, with its engine and algorithm.',
    [ENGINE, ALGORITHM],
    'max',
  ),
} as const satisfies Readonly<Record<string, Metric>>

export type MetricKey = keyof typeof METRICS
