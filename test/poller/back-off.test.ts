import test from 'ava'
import fc from 'fast-check'
import { BackOff, GRPC_BACK_OFF } from '../../dist/poller/back-off.js'

test("waits grow by gRPC's factor up to its longest", (t) => {
  const backOff = new BackOff(GRPC_BACK_OFF, () => 0.5)
  const waits = Array.from({ length: 13 }, () => Math.round(backOff.next()))
  t.deepEqual(
    waits,
    [1_000, 1_600, 2_560, 4_096, 6_554, 10_486, 16_777, 26_844, 42_950, 68_719, 109_951, 120_000, 120_000],
  )
})

test('a reset starts from the first wait again', (t) => {
  const backOff = new BackOff(GRPC_BACK_OFF, () => 0.5)
  for (let i = 0; i < 20; i++) backOff.next()
  backOff.reset()
  t.is(backOff.next(), 1_000)
  t.is(backOff.next(), 1_600)
})

test('jitter spreads each wait over a fifth on both sides, also the longest', (t) => {
  const least = new BackOff(GRPC_BACK_OFF, () => 0)
  const most = new BackOff(GRPC_BACK_OFF, () => 1 - 2 ** -32)
  t.is(least.next(), 800)
  t.true(Math.abs(most.next() - 1_200) < 0.01)
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.nat(60),
      (random, tries) => {
        const backOff = new BackOff(GRPC_BACK_OFF, () => random)
        for (let i = 0; i < tries; i++) backOff.next()
        const base = Math.min(120_000, 1_000 * 1.6 ** tries)
        const wait = backOff.next()
        t.true(wait >= base * 0.8 - 1e-6 && wait <= base * 1.2 + 1e-6)
      },
    ),
  )
})
