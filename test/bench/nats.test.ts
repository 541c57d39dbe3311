import { measureNats } from '../../bench/figures/nats.js'
import { NatsServer, test } from '../nats/server.js'

test('all that is published is heard, and what that costs is measured', async (t) => {
  const server = await NatsServer.start(t)
  const { steady, flooded } = await measureNats(server.address, { nodes: 20, time: 300, flood: 500 })
  t.true(steady.heard > 1)
  t.is(flooded.heard, 501)
  for (const { elapsed, processCpu } of [steady, flooded]) t.true(elapsed > 0 && processCpu > 0)
})
