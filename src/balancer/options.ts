import * as v from 'valibot'
import { type Sampler, samplerOption } from '../agent/samplers/sampler.js'
import { type Algorithm, isAlgorithm } from '../algorithms/registry.js'
import type { Clock } from '../clock.js'
import { clockSchema, milliseconds, number, oneOf, options, text, whole } from '../options.js'
import { type TransportOption, transportSchema } from '../poller/transport.js'
import { PUBLICATION_SPACING } from '../table/publications.js'
import { Table } from '../table/table.js'
import type { NodeLike } from './node.js'
import { isNodeSource, type NodeSource } from './node-source.js'
import { type TrustOptions, trustEntries } from './trust-options.js'

/** How a balancer polls its members. */
export interface PollOptions {
  /** Wait between the end of a cycle and the start of the next, ms. Default 5,000. */
  interval?: number | undefined
  /**
   * The first cycle starts after a wait drawn from [0, startupJitter], ms, so that balancers that start together do
   * not poll together. Until it ends there are no reports, and picks by reports are even: for up to
   * `startupJitter + timeout`. 0: at once. Default: one `interval`; with `leastCpu()` 60,000.
   */
  startupJitter?: number | undefined
  /** A cycle ends after this at the latest, ms, whatever the members do. Default 2,000. */
  timeout?: number | undefined
  /**
   * The port of the agents, 1-65535: each member is polled at `http://<its host>:<port>/report`, without a token. Short
   * for `transport: httpTransport({ port })`; give one of the two.
   */
  port?: number | undefined
  /**
   * How to poll a member; or a function of a node's id that returns its transport, called once per node, when it joins.
   * If it throws or returns nothing, that node alone can't be polled. Without a transport and a port no node is polled,
   * and these options are an error unless there is `self` to sample. `prequal()` can't do without: it asks by it too.
   */
  transport?: TransportOption | undefined
  /**
   * A member with a report sampled less than this ago, in whatever way it came, is not asked in a cycle, ms: so polls are
   * for the silent alone. Default 0: all are asked.
   */
  silentFor?: number | undefined
  /** Threads that poll, for all balancers of this thread; the largest number asked for. 1 to 16, default 1. */
  workers?: number | undefined
}

/** Options of `createBalancer`. */
export interface BalancerOptions<N extends NodeLike = NodeLike> extends TrustOptions {
  /**
   * The members: ids, or objects with an `id`; or what finds them, such as `dnsDiscovery()`, which the balancer follows
   * until it is closed. Default none.
   */
  nodes?: readonly N[] | NodeSource<N> | undefined
  /** The local process as a member: it is not polled but sampled, once a cycle. Default: it is none. */
  self?: N | undefined
  /** How to pick. Default `adaptive()`. */
  algorithm?: Algorithm | undefined
  /**
   * How to poll; it needs `transport` or `port`. Without it no node is polled: readings come from `report()`, from
   * responses or from other balancers. `self` is sampled all the same. False: nothing runs in the background, and
   * `self` is not sampled either.
   */
  poll?: PollOptions | false | undefined
  /** What tells the local CPU, for `self`. Default: the CPU of this container, else of the machine. */
  sampler?: Sampler | undefined
  /**
   * What to store for `self` where the sampler throws, hangs or gives no usable number: percent, 0-100; or `'stale'`:
   * nothing, so that a broken sampler can't look like a fresh reading (recommended). Default 50, as published.
   */
  onSamplerError?: number | 'stale' | undefined
  /**
   * Least time between two publications of what comes one by one (pushes, probes, reports in responses), ms: each makes
   * all threads look at the readings anew. The same for what a discovery finds. 0: each at once. Default 50.
   */
  coalesce?: number | undefined
  /** For telemetry and errors. Default `balancer-1` and so on. */
  name?: string | undefined
  /** A whole number from 0 to 2^53 - 1 that fixes the sequence of picks. Default: by chance. */
  seed?: number | undefined
  /**
   * Where time comes from. One of your own implies a table of its own, and polling on this thread. Default: the
   * process's monotonic clock.
   */
  clock?: Clock | undefined
  /** The table to share, from `createTable()`. Default the process's own. */
  table?: Table | undefined
  /** Which engine; default `'auto'`: native where the addon loads, else portable with one warning. */
  engine?: 'auto' | 'native' | 'portable' | undefined
}

const algorithm = v.custom<Algorithm>(
  (value) => isAlgorithm(value) && Object.isFrozen(value),
  'an algorithm, such as leastCpu() or random()',
)

/** Schemas of options that several have. */
export const clockOption = v.optional(clockSchema)
export const seedOption = v.optional(whole(0))
export const engineOption = v.optional(oneOf(['auto', 'native', 'portable']))

/** What `poll` takes; shared with `configure`. */
export const pollOptions = options({
  interval: v.optional(milliseconds(1), 5_000),
  startupJitter: v.optional(milliseconds(0)),
  timeout: v.optional(milliseconds(1), 2_000),
  port: v.optional(whole(1, 65_535)),
  transport: v.optional(transportSchema),
  silentFor: v.optional(milliseconds(0), 0),
  workers: v.optional(whole(1, 16), 1),
})

/** Poll options, checked. */
export type CheckedPollOptions = v.InferOutput<typeof pollOptions>

/** What they are where none are given. */
export const pollDefaults: CheckedPollOptions = v.parse(pollOptions, {})

/** Poll options, or false. */
export const pollOption = v.union([v.literal(false), pollOptions], 'an object of poll options, or false')

/** Options that balancers and the module-level `select` have in common. */
export const sharedEntries = {
  algorithm: v.optional(algorithm),
  poll: v.optional(pollOption),
  seed: seedOption,
  clock: clockOption,
  table: v.optional(v.instance(Table, 'a table from createTable()')),
  engine: engineOption,
} as const

/** What `createBalancer` takes. Nodes are checked apart: their errors are of another kind. */
export const balancerOptions = options({
  ...sharedEntries,
  ...trustEntries,
  nodes: v.optional(
    v.custom<readonly NodeLike[] | NodeSource>(
      (value) => Array.isArray(value) || isNodeSource(value),
      'an array of nodes, or what finds them, such as dnsDiscovery()',
    ),
    () => [],
  ),
  self: v.optional(v.custom<NodeLike>((value) => value !== undefined, 'a node')),
  sampler: v.optional(samplerOption()),
  onSamplerError: v.optional(
    v.union([number(0, 100), v.literal('stale')], 'a number from 0 to 100 (percent) or "stale"'),
    50,
  ),
  coalesce: v.optional(milliseconds(0), PUBLICATION_SPACING),
  name: v.optional(text()),
})
