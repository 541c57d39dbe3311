import test from 'ava'
import { balancedPool, picksOf } from '../../bench/comparisons/balanced-pool.js'
import { CALL, type Policy, pickerOf } from '../../bench/comparisons/grpc.js'
import { consistentHash, hashring, POINTS, RING_NODES } from '../../bench/comparisons/rings.js'
import { withVersion } from '../../bench/comparisons/version.js'
import { KEYS } from '../../bench/keys.js'

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

test('what is compared is told with its version', (t) => {
  t.regex(withVersion('undici'), /^undici \d+\.\d+\.\d+/)
  t.regex(withVersion('@grpc/grpc-js'), /^@grpc\/grpc-js \d+\./)
})
