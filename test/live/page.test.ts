import type { ExecutionContext } from 'ava'
import { createBalancer, leastCpu, type ServeOptions } from '../../dist/index.js'
import { faults, inBrowser, picture } from '../scene/browser.js'

const MANY = 5_000

/** A balancer of 5,000 nodes that is served until the test ends. */
async function fleet(t: ExecutionContext, options: ServeOptions = {}) {
  const ids = Array.from({ length: MANY }, (_, i) => `10.0.${i >> 8}.${i & 255}:8080`)
  const balancer = createBalancer({
    nodes: ids,
    algorithm: leastCpu({ threshold: 5 }),
    poll: false,
    seed: 1,
    name: 'checkout',
  })
  t.teardown(() => balancer.close())
  for (const [i, id] of ids.entries()) balancer.report(id, { cpu: 20 + ((i * 7) % 70), qps: i % 300 })
  balancer.report('10.0.0.3:8080', { state: 'drain' })
  balancer.report('10.0.0.4:8080', { state: 'down' })
  const work = setInterval(() => {
    for (let i = 0; i < 500; i++) balancer.select()
  }, 50)
  t.teardown(() => clearInterval(work))
  const server = await balancer.serve({ interval: 250, ...options })
  return { balancer, server, url: server.url }
}

const looks = [
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'phone', options: { colorScheme: 'light', width: 360, height: 740 } },
] as const

for (const { name, options } of looks) {
  inBrowser(`axe finds nothing wrong with the live page: ${name}`, options, async (t, page) => {
    const { url } = await fleet(t)
    await page.goto(url)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.waitForTimeout(1500)
    t.deepEqual(await faults(page), [])
    await picture(page, `live-${name}`)
    await page.getByRole('button', { name: '10.0.0.1:8080' }).click()
    t.deepEqual(await faults(page), [])
    await picture(page, `live-${name}-node`)
    t.is(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false)
  })
}
