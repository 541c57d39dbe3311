import { firstMessage, startChild } from './child.js'

/** What calls are balanced by: two policies of grpc-js, and idlest's. */
export const GRPC_POLICIES = [
  'round_robin',
  'weighted_round_robin',
  'idlest_weighted_round_robin',
  'idlest_adaptive',
] as const

export type GrpcPolicy = (typeof GRPC_POLICIES)[number]

/** What a call takes in the client. */
export interface GrpcPolicyResult {
  readonly policy: GrpcPolicy
  /** CPU time, µs. */
  readonly cpu: number
  /** To a call by `round_robin` of the same round. */
  readonly toRoundRobin: number
}

export interface GrpcPoliciesSettings {
  readonly rounds: number
  /** Calls by each policy in a round. */
  readonly calls: number
}

/**
 * What runs together, and a part of the rounds. The weighted policy of grpc-js leaves so much garbage that the others would
 * collect it, and takes so long that fewer rounds have to do.
 */
const RUNS: readonly { readonly policies: readonly GrpcPolicy[]; readonly part: number }[] = [
  { policies: ['round_robin', 'idlest_weighted_round_robin', 'idlest_adaptive'], part: 1 },
  { policies: ['round_robin', 'weighted_round_robin'], part: 0.1 },
]

/** Unary calls to servers that send a report with each answer, all of them in another process. */
export async function measureGrpcPolicies(settings: GrpcPoliciesSettings): Promise<GrpcPolicyResult[]> {
  const servers = startChild(new URL('./grpc-policies-servers.ts', import.meta.url), [])
  try {
    const target = String(await firstMessage(servers))
    const results: GrpcPolicyResult[] = []
    for (const { policies, part } of RUNS) {
      const args = [target, `${Math.ceil(settings.rounds * part)}`, `${settings.calls}`, ...policies]
      const client = startChild(new URL('./grpc-policies-client.ts', import.meta.url), args)
      results.push(...((await firstMessage(client)) as GrpcPolicyResult[]))
    }
    return GRPC_POLICIES.flatMap((policy) => results.find((result) => result.policy === policy) ?? [])
  } finally {
    servers.kill()
  }
}
