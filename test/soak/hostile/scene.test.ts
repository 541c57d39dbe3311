import test from 'ava'
import { hostileScene, wrongIn } from './scene.js'

// `npm run soak -- --part hostile` does this with 200 nodes, and looks at CPU and memory too.
test('with a tenth of the nodes hostile, in each way that gRPC allows, all good ones are fresh in each cycle', async (t) => {
  t.timeout(300_000)
  // A hostile node of each kind.
  const result = await hostileScene(207, 8)
  t.deepEqual(wrongIn(result), [])
  t.is(result.quarantined, 0)
  t.true(result.then.heard >= 207 * 8)
})
