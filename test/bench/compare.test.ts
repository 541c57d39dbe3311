import * as grpc from '@grpc/grpc-js'
import test from 'ava'
import { balancedPool, picksOf } from '../../bench/compare/balanced-pool.js'
import { CALL, type Policy, pickerOf } from '../../bench/compare/grpc.js'
import { isCompared, JOBS } from '../../bench/compare/jobs.js'
import { consistentHash, hashring, POINTS, RING_NODES } from '../../bench/compare/rings.js'
import { PEERS, peerVersions } from '../../bench/compare/version.js'
import { closeAll, comparedFamilies, listed } from '../../bench/families.js'
import { KEYS } from '../../bench/keys.js'
import { registerIdlestPolicies } from '../../dist/integrations/grpc/index.js'

test('keys have 11 characters and are all different', (t) => {
  t.true(KEYS.every((key) => key.length === 11))
  t.is(new Set(KEYS).size, KEYS.length)
})

test('rings that are compared have as many points', (t) => {
  t.is(hashring().size, RING_NODES * POINTS)
  t.is(consistentHash().keyCount, RING_NODES * POINTS)
})

test('rings give one node for a key, and many nodes for many', (t) => {
  for (const ring of [hashring(), hashring(1), consistentHash()]) {
    const picked = KEYS.map((key) => ring.get(key))
    t.deepEqual(
      picked,
      KEYS.map((key) => ring.get(key)),
    )
    t.true(new Set(picked).size > RING_NODES * 0.9)
  }
})

registerIdlestPolicies(grpc)

function addresses(policy: Policy, nodes: number): Set<string | undefined> {
  const { picker, close } = pickerOf(policy, nodes)
  const picked = Array.from({ length: nodes }, () => picker.pick(CALL).subchannel?.getAddress())
  close()
  return new Set(picked)
}

test('pickers of gRPC pick by their policies', (t) => {
  t.is(addresses('round_robin', 8).size, 8)
  t.is(addresses('weighted_round_robin', 8).size, 8)
  t.deepEqual([...addresses('pick_first', 8)], ['10.0.0.0:8080'])
})

test("the pick of undici's pool gives its pools in turn", async (t) => {
  const pool = balancedPool(8)
  const pick = picksOf(pool)
  const picked = Array.from({ length: 16 }, () => pick?.())
  t.is(new Set(picked).size, 8)
  t.deepEqual(picked.slice(8), picked.slice(0, 8))
  await pool.close()
})

test('the versions of all that is compared are told', (t) => {
  const versions = peerVersions()
  for (const name of PEERS) t.regex(versions[name] ?? '', /^\d+\.\d+\.\d+/, name)
})

test("each job is done by a case of idlest's and by one of others", async (t) => {
  const families = await comparedFamilies(() => {})
  const cases = listed(families)
  const names = new Set(cases.map(({ of }) => of.name))
  for (const { job, ours, theirs } of JOBS) {
    t.true(ours.length > 0 && theirs.length > 0, job)
    for (const name of [...ours, ...theirs]) t.true(names.has(name), `${job}: ${name}`)
  }
  // Beside them there are floors alone.
  for (const { of, topic } of cases) t.true(isCompared(of) || topic === 'floor', of.name)
  await closeAll(families)
})

test("idlest's pickers of gRPC pick among all that are ready", (t) => {
  t.is(addresses('idlest_weighted_round_robin', 8).size, 8)
  t.true(addresses('idlest_adaptive', 8).size > 1)
})
