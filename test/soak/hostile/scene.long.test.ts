import test from 'ava'
import { hostileScene, wrongIn } from './scene.js'

// `npm run soak -- --part hostile` does this with 200 nodes, and looks at CPU and memory too.
// A hostile node of each kind.
for (const [transport, good, cycles] of [
  ['grpc', 207, 8],
  ['http', 162, 4],
  ['node-exporter', 207, 4],
] as const) {
  test(`${transport}: with a tenth of the nodes hostile, in each way that it allows, all good ones are fresh in each cycle`, async (t) => {
    t.timeout(300_000)
    const result = await hostileScene(transport, good, cycles)
    t.deepEqual(wrongIn(result), [])
    t.is(result.quarantined, 0)
    if (transport === 'grpc') t.true(result.then.heard >= good * cycles)
  })
}
