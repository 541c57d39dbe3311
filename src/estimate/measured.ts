import * as v from 'valibot'

const figure = v.optional(v.pipe(v.number(), v.finite(), v.minValue(0)))

/** What is read of a balancer's live view; whatever else it has is left alone. */
const viewSchema = v.object({
  balancer: v.optional(v.string()),
  algorithm: v.optional(v.string()),
  window: figure,
  picksPerSecond: figure,
  poll: v.nullish(v.object({ interval: figure })),
  nodes: v.array(
    v.object({
      state: v.string(),
      age: figure,
      ejected: v.nullish(v.unknown()),
      report: v.object({ cpu: figure, application: figure, qps: figure }),
    }),
  ),
})

/** What `estimateFleet` needs of a live view, as it came in JSON. */
export type MeasuredView = v.InferOutput<typeof viewSchema>

/** Whether a value, such as parsed JSON, has what is needed of a live view. */
export function isMeasurable(value: unknown): value is MeasuredView {
  return v.is(viewSchema, value)
}

/** A figure, and where it comes from. */
export interface Figure {
  readonly value: number
  /** In words, such as `qps of 8 servers' reports`. */
  readonly from: string
}

/** What a running balancer tells of its fleet; what it can't tell is undefined. */
export interface MeasuredFleet {
  /** Members, whatever their state. */
  readonly members: number
  /** Members that take work: up, and not ejected. */
  readonly servers: number
  /** Requests a second to all of them. */
  readonly traffic: Figure | undefined
  /** Mean load that they report, 0-1. */
  readonly load: Figure | undefined
  /** Requests a second that a server would serve if it were full, the mean of those that tell. */
  readonly capacity: Figure | undefined
  /** Time between two reports, s. */
  readonly reportInterval: Figure | undefined
}

type Node = MeasuredView['nodes'][number]

/** Reports older than that, and than three polls, tell nothing of now, ms. */
const OLD = 30_000

/** Utilization that a report tells, 0-1, as weights from reports take it: the application's where there is one, else the CPU's. */
function utilizationOf({ report }: Node): number | undefined {
  const { application = 0, cpu } = report
  const percent = application > 0 ? application : cpu
  return percent === undefined ? undefined : percent / 100
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

const those = (count: number): string => `${count.toLocaleString('en-US')} server${count === 1 ? '' : 's'}`

function trafficOf(up: readonly Node[], heard: readonly Node[], view: MeasuredView): Figure | undefined {
  const rates = heard.flatMap(({ report }) => report.qps ?? [])
  // Of some servers only, it is not the fleet's.
  if (rates.length > 0 && rates.length === up.length) {
    return { value: sum(rates), from: `qps that ${those(rates.length)} report` }
  }
  const { picksPerSecond, window = 0 } = view
  if (picksPerSecond === undefined || window === 0) return undefined
  const seconds = (window / 1000).toLocaleString('en-US', { maximumFractionDigits: 1 })
  return { value: picksPerSecond, from: `picks of this balancer alone, in ${seconds} s` }
}

// Of sums, not a mean of quotients: a server that does little tells little of what it could do.
function capacityOf(heard: readonly Node[]): Figure | undefined {
  const telling = heard.flatMap((node) => {
    const utilization = utilizationOf(node) ?? 0
    const { qps = 0 } = node.report
    return qps > 0 && utilization > 0 ? [{ qps, utilization }] : []
  })
  if (telling.length === 0) return undefined
  const value = sum(telling.map(({ qps }) => qps)) / sum(telling.map(({ utilization }) => utilization))
  return { value, from: `qps / utilization that ${those(telling.length)} report` }
}

/** Measures a fleet by what a running balancer knows of it. */
export function measureFleet(view: MeasuredView): MeasuredFleet {
  const up = view.nodes.filter(({ state, ejected }) => state === 'up' && (ejected ?? undefined) === undefined)
  const interval = view.poll?.interval
  const oldest = Math.max(OLD, 3 * (interval ?? 0))
  const heard = up.filter(({ age = 0 }) => age <= oldest)
  const loads = heard.flatMap((node) => utilizationOf(node) ?? [])
  return {
    members: view.nodes.length,
    servers: up.length,
    traffic: trafficOf(up, heard, view),
    load:
      loads.length === 0
        ? undefined
        : { value: sum(loads) / loads.length, from: `utilization that ${those(loads.length)} report` },
    capacity: capacityOf(heard),
    reportInterval:
      interval === undefined ? undefined : { value: interval / 1000, from: "the balancer's poll interval" },
  }
}
