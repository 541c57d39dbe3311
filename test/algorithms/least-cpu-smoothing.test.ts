import test from 'ava'
import { createBalancer, leastCpu, OptionError } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'

for (const engine of engines) {
  test(`${engine}: smoothed readings make the band of leastCpu`, (t) => {
    const clock = new VirtualClock(1_000)
    const nodes = ['a', 'b']
    const algorithm = leastCpu({ threshold: 0, ttl: 60_000, smoothing: 1_000 })
    const balancer = createBalancer({ nodes, algorithm, poll: false, clock, seed: 3, engine })
    const report = (cpus: readonly number[]) => {
      clock.jump(1_000)
      for (const [i, cpu] of cpus.entries()) balancer.report(nodes[i] as string, { cpu })
    }
    report([10, 40])
    balancer.select()
    report([90, 40])
    // Half of the way after a second: 50.
    t.deepEqual(
      balancer.snapshot().map(({ effective }) => effective),
      [50, 40],
    )
    for (let i = 0; i < 20; i++) t.is(balancer.select(), 'b')
  })
}

for (const smoothing of [-1, Number.NaN, Number.POSITIVE_INFINITY, '5', null]) {
  test(`leastCpu smoothing: ${String(smoothing)} (${typeof smoothing}) is refused`, (t) => {
    t.throws(() => leastCpu({ smoothing: smoothing as never }), {
      instanceOf: OptionError,
      message: /leastCpu\.smoothing/,
    })
  })
}
