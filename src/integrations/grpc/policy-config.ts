import type { experimental } from '@grpc/grpc-js'
import { OptionError, reasonOf } from '../../errors.js'
import {
  type AdaptiveOptions,
  type Algorithm,
  adaptive,
  type WeightedRoundRobinOptions,
  weightedRoundRobin,
} from '../../index.js'
import { warn } from '../../warn.js'
import { ConfigFields, given } from './config-fields.js'

/** The name that service configs call a policy by. */
export type PolicyName = 'idlest_weighted_round_robin' | 'idlest_adaptive'

/** The policies. */
export const POLICIES: readonly PolicyName[] = ['idlest_weighted_round_robin', 'idlest_adaptive']

/** As in gRFC A58, ms. */
const REPORTING_PERIOD = 10_000

/** The config of one of the policies, checked. */
export class PolicyConfig implements experimental.TypedLoadBalancingConfig {
  readonly policy: PolicyName
  readonly algorithm: Algorithm
  /** How often nodes are asked to tell reports out of band, ms; undefined: reports are read off calls. */
  readonly reportingPeriod: number | undefined
  readonly #json: object

  constructor(policy: PolicyName, algorithm: Algorithm, reportingPeriod: number | undefined, json: object) {
    this.policy = policy
    this.algorithm = algorithm
    this.reportingPeriod = reportingPeriod
    this.#json = json
  }

  getLoadBalancerName(): PolicyName {
    return this.policy
  }

  toJsonObject(): object {
    return { [this.policy]: this.#json }
  }

  /** Whether both pick alike. */
  picksAs(other: PolicyConfig | undefined): boolean {
    return JSON.stringify(this.algorithm) === JSON.stringify(other?.algorithm)
  }
}

type ConfigClass = Parameters<typeof experimental.registerLoadBalancerType>[2]

/** The class of a policy's configs, as grpc-js wants one. */
export function configClassOf(policy: PolicyName): ConfigClass {
  return class extends PolicyConfig {
    static createFromJson(json: unknown): PolicyConfig {
      return readConfig(policy, json)
    }
  }
}

// grpc-js goes on with its default policy, and says so to those alone who debug.
function readConfig(policy: PolicyName, json: unknown): PolicyConfig {
  try {
    const fields = new ConfigFields(policy, json)
    const isOutOfBand = fields.flag('enableOobLoadReport') ?? false
    const period = fields.duration('oobLoadReportingPeriod') ?? REPORTING_PERIOD
    return new PolicyConfig(
      policy,
      algorithms[policy](fields),
      isOutOfBand ? period : undefined,
      json as object,
    )
  } catch (error) {
    warnOnce(`the config of ${policy} is not used: ${reasonOf(error)}`)
    throw error
  }
}

const warned = new Set<string>()

// Configs are read anew whenever names are resolved.
function warnOnce(message: string): void {
  if (warned.has(message)) return
  warned.add(message)
  warn(message, 'IDLEST_GRPC_CONFIG')
}

const algorithms: Readonly<Record<PolicyName, (fields: ConfigFields) => Algorithm>> = {
  idlest_weighted_round_robin: (fields) =>
    weightedRoundRobin(
      given<WeightedRoundRobinOptions>({
        blackoutPeriod: fields.duration('blackoutPeriod'),
        weightExpirationPeriod: fields.duration('weightExpirationPeriod'),
        weightUpdatePeriod: fields.duration('weightUpdatePeriod'),
        errorUtilizationPenalty: fields.number('errorUtilizationPenalty'),
        metricNames: fields.texts(METRIC_NAMES)?.map(metricOf),
      }),
    ),
  idlest_adaptive: (fields) =>
    adaptive(
      given<AdaptiveOptions>({
        ttl: fields.duration('ttl'),
        fading: fields.duration('fading'),
        errorCost: fields.number('errorCost'),
      }),
    ),
}

const METRIC_NAMES = 'metricNamesForComputingUtilization'
const NAMED = 'named_metrics.'
const UTILIZATION = 'utilization.'

const utilizations: ReadonlyMap<string, string> = new Map([
  ['cpu_utilization', 'cpu'],
  ['application_utilization', 'application'],
  ['mem_utilization', 'memory'],
])

// The names of metrics in gRFC A114. Reports keep an entry of ORCA's map `utilization` under its whole name.
function metricOf(name: string): string {
  if (name.startsWith(UTILIZATION) && name !== UTILIZATION) return name
  const metric = name.startsWith(NAMED) ? name.slice(NAMED.length) : utilizations.get(name)
  if (metric !== undefined) return metric
  const expected = `names such as "named_metrics.queue" and "utilization.queue", or ${[...utilizations.keys()].join(', ')}`
  throw new OptionError(METRIC_NAMES, name, expected)
}
