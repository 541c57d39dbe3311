import test from 'ava'
import fc from 'fast-check'
import { RetryBudget } from '../../../dist/balancer/retry-budget.js'
import { get, node, over } from './servers.js'

test('retries are at most their share of the requests and 100 more, in any stretch of them', (t) => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(share, fc.nat(2_000), fc.nat(2_000), (share, calm, outage) => {
      const budget = new RetryBudget(share)
      for (let i = 0; i < calm; i++) budget.earn()
      let retries = 0
      for (let i = 0; i < outage; i++) {
        budget.earn()
        if (budget.take()) retries++
      }
      t.true(retries <= share * outage + 100)
      t.true(retries >= (share === 0 ? 0 : Math.min(outage, 10)))
      t.deepEqual(budget.counters, { requests: calm + outage, retries, denied: outage - retries })
    }),
  )
})

test('where all nodes fail, few requests are sent twice, and what is left is counted', async (t) => {
  const failing = () =>
    node(t, (_request, response) => {
      response.statusCode = 503
      response.end()
    })
  const nodes = [await failing(), await failing(), await failing()]
  const { dispatcher } = over(t, nodes)
  for (let i = 0; i < 100; i++) await (await dispatcher.request(get)).body.dump()
  const { requests, retries, retriesDenied } = dispatcher.stats
  t.deepEqual([requests, retries, retriesDenied], [100, 30, 70])
  t.is(
    nodes.reduce((sum, { requests }) => sum + requests(), 0),
    130,
  )
})
