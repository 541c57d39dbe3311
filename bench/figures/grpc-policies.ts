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

/** Unary calls to servers that send a report with each answer, all of them in another process. */
export async function measureGrpcPolicies({
  rounds,
  calls,
}: GrpcPoliciesSettings): Promise<GrpcPolicyResult[]> {
  const servers = startChild(new URL('./grpc-policies-servers.ts', import.meta.url), [])
  try {
    const target = String(await firstMessage(servers))
    const args = [target, `${rounds}`, `${calls}`]
    const client = startChild(new URL('./grpc-policies-client.ts', import.meta.url), args)
    return (await firstMessage(client)) as GrpcPolicyResult[]
  } finally {
    servers.kill()
  }
}
