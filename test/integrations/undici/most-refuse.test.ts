import test, { type ExecutionContext } from 'ava'
import { type Algorithm, createBalancer } from '../../../dist/index.js'
import { BalancedDispatcher } from '../../../dist/integrations/undici/index.js'
import { VirtualClock } from '../../../dist/simulation/virtual-clock.js'
import { everyAlgorithm, optionsFor, takesKeys } from '../../support/algorithms.js'
import { get, named, nobody } from './servers.js'

/** How many of 200 requests are lost after the first 3 s, at 100 a second by the balancer's clock. */
async function lostBy(t: ExecutionContext, algorithm: Algorithm, nodes: readonly string[]): Promise<number> {
  const clock = new VirtualClock()
  const balancer = createBalancer({ ...optionsFor(algorithm, nodes), clock })
  let sent = 0
  const key = () => `key ${sent}`
  const dispatcher = new BalancedDispatcher(balancer, takesKeys(algorithm) ? { key } : {})
  t.teardown(async () => {
    await dispatcher.close()
    await balancer.close()
  })
  let lost = 0
  for (; sent < 500; sent++) {
    clock.jump(10)
    const answer = dispatcher.request(get).then(({ body }) => body.text())
    await answer.catch(() => {
      if (sent >= 300) lost++
    })
  }
  return lost
}

test('where all nodes but one refuse connections, at most 2 % of the requests are lost after 3 s, by any algorithm', async (t) => {
  const { id } = await named(t, 'good')
  const dead = await Promise.all(Array.from({ length: 7 }, () => nobody(t)))
  const runs = everyAlgorithm.flatMap(([name, algorithm]) =>
    [3, 4, 8].map(async (size) => {
      const lost = await lostBy(t, algorithm, [id, ...dead.slice(0, size - 1)])
      t.true(lost <= 200 * 0.02, `${name}, ${size} nodes: ${lost} lost`)
    }),
  )
  await Promise.all(runs)
})
