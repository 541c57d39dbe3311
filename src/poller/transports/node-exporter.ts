import * as v from 'valibot'
import { checkOptions, method, number, oneOf, options, whole } from '../../options.js'
import type { CpuSource } from '../../reports/node-cpu.js'
import {
  endpointEntries,
  endpointOf,
  type HttpEndpoint,
  type HttpNodeOptions,
  type HttpOptions,
  httpEntries,
  pathSchema,
} from './http-endpoint.js'
import { ownOptions } from './own-options.js'
import { sealed } from './sealed.js'

/**
 * Whose CPU is read off a page:
 * - `'node'`: the machine's, `node_cpu_seconds_total` of node_exporter: all but `idle` and `iowait`, over all cores
 * - `{ kind: 'process', cores }`: one process's, `process_cpu_seconds_total`, which the client libraries of Prometheus
 *   have, against so many cores
 * - `'container'`, `{ kind: 'container', labels, cores }`: a container's, `container_cpu_usage_seconds_total` of cAdvisor,
 *   of the series that have these labels; `{ id: '/' }` by default, which is the machine. Against so many cores; by default
 *   the container's quota, and without one `machine_cpu_cores`
 */
export type CpuMetric = 'node' | 'container' | CpuSource

/** What one node has of its own. */
export interface NodeExporterNodeOptions extends HttpNodeOptions {
  /** Default the transport's. */
  metric?: CpuMetric | undefined
}

/** Options of `nodeExporterTransport`. */
export interface NodeExporterTransportOptions extends HttpOptions {
  /** The exporters' port, 1-65535, whatever the port in the node's id. Default 9100. */
  port?: number | undefined
  /** Default `/metrics`. */
  path?: string | undefined
  /** Whose CPU is read. Default `'node'`. */
  metric?: CpuMetric | undefined
  /**
   * What a node has of its own; called once per node, when it joins, on the balancer's thread. Default: nothing of its
   * own.
   */
  node?: ((id: string) => NodeExporterNodeOptions | undefined) | undefined
}

/** Options of `nodeExporterTransport` with their defaults. */
export type NodeExporterSettings = Readonly<NodeExporterTransportOptions> & {
  readonly protocol: 'http' | 'https'
  readonly port: number
  readonly path: string
  readonly metric: CpuMetric
}

/**
 * Reads each node's CPU off a page in Prometheus' text format. Runs in the polling thread: over one kept connection, not
 * redirected, pages up to 4 MiB. Made by `nodeExporterTransport`.
 */
export interface NodeExporterTransport {
  /** Which transport it is. */
  readonly kind: 'node-exporter'
  /** @internal */
  readonly settings: NodeExporterSettings
}

/** Where one node's page is, and what is read off it: plain data, for any thread. */
export interface NodeExporterTarget extends HttpEndpoint {
  readonly kind: 'node-exporter'
  readonly id: string
  readonly source: CpuSource
}

const cores = number(Number.MIN_VALUE)
const sources = {
  node: options({ kind: oneOf(['node']) }),
  process: options({ kind: oneOf(['process']), cores }),
  container: options({
    kind: oneOf(['container']),
    labels: v.optional(v.record(v.string(), v.string('a string'), 'an object of labels')),
    cores: v.optional(cores),
  }),
} as const
const words = v.picklist(
  ['node', 'container'],
  "'node', 'container', { kind: 'process', cores } or { kind: 'container', labels, cores }",
)

// By its kind, so that an error is of what was meant.
const metricSchema = v.lazy((value) => {
  const kind = typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined
  return kind === 'node' || kind === 'process' || kind === 'container' ? sources[kind] : words
})

const nodeSchema = options({ ...endpointEntries, metric: v.optional(metricSchema) })

const nodeExporterSchema = options({
  ...httpEntries,
  port: v.optional(whole(1, 65_535), 9_100),
  path: v.optional(pathSchema, '/metrics'),
  metric: v.optional(metricSchema, 'node'),
  node: v.optional(method<(id: string) => NodeExporterNodeOptions | undefined>()),
})

/**
 * Makes the transport that reads CPU off pages for Prometheus, so that nodes which have node_exporter need no other agent:
 * node `10.0.0.1:8080` is asked at `http://10.0.0.1:9100/metrics`. The CPU is the rate between two pages, over the time
 * between them, so the first page of a node is no report yet, nor is one after its counters started anew. A report is as old
 * as the middle of that time: after a long gap it is old, and not taken for the present.
 *
 * @example
 * ```ts
 * const transport = nodeExporterTransport({ port: 8080, metric: { kind: 'process', cores: 4 } })
 * ```
 * @throws OptionError
 */
export function nodeExporterTransport(given: NodeExporterTransportOptions = {}): NodeExporterTransport {
  return sealed('node-exporter', checkOptions('nodeExporterTransport', given, nodeExporterSchema))
}

/** Works out where a node's page is. Throws an Error that says why it can't be asked. */
export function resolveNodeExporter(id: string, settings: NodeExporterSettings): NodeExporterTarget {
  const own = ownOptions('nodeExporterTransport', id, settings, nodeSchema)
  const metric = own.metric ?? settings.metric
  return {
    kind: 'node-exporter',
    id,
    ...endpointOf(id, settings, own),
    source: typeof metric === 'string' ? { kind: metric } : metric,
  }
}
