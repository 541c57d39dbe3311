import * as v from 'valibot'
import { reasonOf } from '../../errors.js'
import type { Algorithm, Balancer, BalancerOptions } from '../../index.js'
import { createBalancer } from '../../index.js'
import { checkOptions, method, options, text } from '../../options.js'
import { catchRejection, type NotAsync } from '../../rejections.js'
import { warn } from '../../warn.js'
import type { Backend } from './backend.js'
import { judgeOf } from './calls.js'
import { type GrpcModule, testedModule } from './grpc-module.js'
import { IdlestLoadBalancer, type PolicyContext } from './load-balancer.js'
import { configClassOf, POLICIES, type PolicyName } from './policy-config.js'
import { USUAL_SPACING } from './trailer-reports.js'

/** A node as the policies have it: its id is the endpoint's addresses, such as `10.0.0.1:8080`. */
export interface GrpcNode {
  /** The endpoint's addresses, such as `10.0.0.1:8080`. */
  readonly id: string
}

/** Options of the balancers that the policies pick by. */
export type GrpcBalancerOptions = Pick<
  BalancerOptions,
  'table' | 'engine' | 'seed' | 'coalesce' | 'health' | 'suspicion' | 'maxShare'
>

/** Options of `registerIdlestPolicies`. */
export interface RegisterOptions {
  /**
   * Options of the balancers, one a channel. Defaults are those of `createBalancer`; but with
   * `idlest_weighted_round_robin`, `health` and `suspicion` are false: gRPC has outlier detection for that.
   */
  balancer?: GrpcBalancerOptions | undefined
  /**
   * Called with each balancer as it is made, such as to look at it. Not async. What it throws is thrown at the channel; the
   * rejection of a promise that it returns all the same is a warning. Default: nobody is told.
   */
  onBalancer?: ((balancer: Balancer<GrpcNode>, policy: PolicyName) => NotAsync) | undefined
  /**
   * The version of the module given, where it can't be found out since it is bundled. Default: the one of its
   * package.json.
   */
  version?: string | undefined
}

// What they are is checked by making a balancer.
const balancerOptions = options({
  table: v.optional(v.unknown()),
  engine: v.optional(v.unknown()),
  seed: v.optional(v.unknown()),
  coalesce: v.optional(v.unknown()),
  health: v.optional(v.unknown()),
  suspicion: v.optional(v.unknown()),
  maxShare: v.optional(v.unknown()),
} satisfies Record<keyof GrpcBalancerOptions, unknown>)

const registerOptions = options({
  balancer: v.optional(balancerOptions),
  onBalancer: v.optional(method<(balancer: Balancer<GrpcNode>, policy: PolicyName) => NotAsync>()),
  version: v.optional(text()),
})

/** What A58 knows nothing of. */
const AS_IN_A58 = { health: false, suspicion: false } as const

/**
 * Teaches @grpc/grpc-js two policies, for the `loadBalancingConfig` of service configs:
 * - `idlest_weighted_round_robin`: gRFC A58, by `weightedRoundRobin()`;
 * - `idlest_adaptive`: by `adaptive()`.
 *
 * Channels made from then on know them. Both read reports off the trailers of calls, or out of band
 * (`enableOobLoadReport`), and count calls in flight. Calling it again has later channels go by the later options.
 *
 * @example
 * ```ts
 * import * as grpc from '@grpc/grpc-js'
 * import { registerIdlestPolicies } from 'idlest/grpc'
 *
 * registerIdlestPolicies()
 * const client = new grpc.Client('dns:///greeter.local:50051', grpc.credentials.createInsecure(), {
 *   'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ idlest_weighted_round_robin: {} }] }),
 * })
 * ```
 * @param grpc the module, as `import * as grpc from '@grpc/grpc-js'` gives it; default the one that is installed
 * @throws PeerError where it is not installed, or of a version that was not tested
 * @throws OptionError
 */
export function registerIdlestPolicies(grpc?: GrpcModule, given: RegisterOptions = {}): void {
  const { onBalancer, version } = checkOptions('', given, registerOptions)
  const { balancer } = given
  const module = testedModule(grpc, version)
  // Now, and not within a channel, is the time to say that an option is wrong.
  void createBalancer({ ...balancer, poll: false }).close()
  const hasFailed = judgeOf(module)
  const spacing = balancer?.coalesce ?? USUAL_SPACING
  const made: Record<PolicyName, number> = { idlest_weighted_round_robin: 0, idlest_adaptive: 0 }
  for (const policy of POLICIES) {
    const makeBalancer = (algorithm: Algorithm): Balancer<Backend> => {
      const options: BalancerOptions<Backend> = {
        ...(policy === 'idlest_weighted_round_robin' ? AS_IN_A58 : {}),
        ...balancer,
        name: `${policy}-${++made[policy]}`,
        algorithm,
        poll: false,
      }
      const its = createBalancer(options)
      const returned: unknown = onBalancer?.(its as Balancer<GrpcNode>, policy)
      catchRejection(returned, (error) =>
        warn(`onBalancer of ${policy} rejected: ${reasonOf(error)}`, 'IDLEST_GRPC_CALLBACK'),
      )
      return its
    }
    const context: PolicyContext = { grpc: module, policy, makeBalancer, hasFailed, spacing }
    module.experimental.registerLoadBalancerType(policy, balancerClassOf(context), configClassOf(policy))
  }
}

// As grpc-js wants one: made with the channel's helper alone.
function balancerClassOf(context: PolicyContext) {
  return class extends IdlestLoadBalancer {
    constructor(helper: ConstructorParameters<typeof IdlestLoadBalancer>[0]) {
      super(helper, context)
    }
  }
}
