import test from 'ava'
import { GRPC_POLICIES, measureGrpcPolicies } from '../../bench/figures/grpc-policies.js'

test('calls by each policy are measured, and compared with round_robin of the same round', async (t) => {
  const results = await measureGrpcPolicies({ rounds: 1, calls: 20 })
  t.deepEqual(
    results.map(({ policy }) => policy),
    [...GRPC_POLICIES],
  )
  for (const { policy, cpu, toRoundRobin } of results) t.true(cpu > 0 && toRoundRobin > 0, policy)
  t.is(results[0]?.toRoundRobin, 1)
})
