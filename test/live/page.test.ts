import type { ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { createBalancer, httpTransport, leastCpu, random, type ServeOptions } from '../../dist/index.js'
import { faults, inBrowser, keepLabels, labelsOf, type Painted, picture } from '../scene/browser.js'

const MANY = 5_000

/** A balancer of 5,000 nodes that is served until the test ends; picks are made all the while. */
async function fleet(t: ExecutionContext, options: ServeOptions = {}) {
  const ids = Array.from({ length: MANY }, (_, i) => `10.0.${i >> 8}.${i & 255}:8080`)
  const balancer = createBalancer({
    nodes: ids,
    algorithm: leastCpu({ threshold: 5, ttl: 600_000 }),
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

/** The page, once it shows nodes. */
async function open(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.locator('tbody tr.row').first().waitFor()
}

function row(page: Page, id: string) {
  return page.locator('tbody tr.row', { has: page.getByRole('button', { name: id, exact: true }) })
}

/** Ids of the rows that were made, from the first on. */
function ids(page: Page): Promise<string[]> {
  return page.locator('button.name').allInnerTexts()
}

/** Waits until the first row is this one's. */
async function firstIs(page: Page, id: string): Promise<void> {
  await page.waitForFunction((wanted) => document.querySelector('button.name')?.textContent === wanted, id)
}

const looks = [
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'phone', options: { colorScheme: 'light', width: 360, height: 740 } },
  { name: 'desk', options: { colorScheme: 'light', width: 1_441 } },
  { name: 'wide', options: { colorScheme: 'dark', width: 1_920 } },
] as const

for (const { name, options } of looks) {
  inBrowser(
    `axe finds nothing wrong with the live page of 5,000 nodes: ${name}`,
    { ...options, wideText: true },
    async (t, page) => {
      const { url } = await fleet(t)
      await open(page, url)
      t.deepEqual(await faults(page), [])
      await picture(page, `live-${name}`)
      await page.getByRole('button', { name: '10.0.0.1:8080', exact: true }).click()
      await page.getByRole('heading', { name: '10.0.0.1:8080' }).waitFor()
      t.deepEqual(await faults(page), [])
      await picture(page, `live-${name}-node`)
      t.false(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth))
      // On a phone there is room for the names and states alone, and the table scrolls in its box.
      const isCut = await page.locator('.nodes').evaluate((box) => box.scrollWidth > box.clientWidth)
      t.is(isCut, name === 'phone')
    },
  )
}

inBrowser(
  'each line of a chart’s axes has a label of its own, which is no rounded one',
  {},
  async (t, page) => {
    await keepLabels(page)
    const { balancer, url } = await fleet(t)
    await open(page, url)
    await page.getByRole('button', { name: '10.0.0.1:8080', exact: true }).click()
    const charts = page.locator('.detail canvas')
    // Little changes: the steps of the axes could be less than their labels can say.
    for (const cpu of [20, 20.2, 20.4]) {
      balancer.report('10.0.0.1:8080', { cpu })
      const seen = (await labelsOf(page)).flat().length
      await page.waitForFunction(
        (seen) => (globalThis as unknown as Painted).labels().flat().length !== seen,
        seen,
      )
      const shown = (await labelsOf(page)).filter(({ length }) => length > 0)
      t.is(shown.length, await charts.count())
      // One that is left out would be empty.
      for (const texts of shown)
        t.deepEqual(
          texts,
          [...new Set(texts)].filter((text) => !text.endsWith(' ')),
        )
    }
  },
)

inBrowser(
  'of 5,000 nodes those alone are made that are in sight, and all can be gone to',
  {},
  async (t, page) => {
    const { url } = await fleet(t)
    await open(page, url)
    t.true((await page.locator('tbody tr').count()) < 60)
    t.is(await page.getByRole('table').getAttribute('aria-rowcount'), `${MANY + 1}`)
    await page.locator('.nodes').evaluate((box) => {
      box.scrollTop = box.scrollHeight
    })
    await row(page, '10.0.19.135:8080').waitFor()
    t.is(await row(page, '10.0.19.135:8080').getAttribute('aria-rowindex'), `${MANY + 1}`)
    t.true((await page.locator('tbody tr').count()) < 60)
  },
)

inBrowser('it shows why a node is not picked, and what is going on', {}, async (t, page) => {
  const { balancer, url } = await fleet(t)
  await open(page, url)
  await page.getByText('Live', { exact: true }).waitFor()
  t.is(await page.title(), 'checkout: idlest')
  t.regex(
    (await row(page, '10.0.0.1:8080').textContent()) ?? '',
    /27 %.*outside the band: 27 % against 20 % \+ 5/s,
  )
  t.regex((await row(page, '10.0.0.3:8080').textContent()) ?? '', /drain.*told by the node/s)
  t.regex((await page.locator('.figures').textContent()) ?? '', /5,000/)
  const idle = row(page, '10.0.0.0:8080')
  t.regex((await idle.textContent()) ?? '', /20 %/)
  balancer.report('10.0.0.0:8080', { cpu: 93 })
  await idle.getByText('93 %').first().waitFor()
})

inBrowser(
  'whatever the algorithm, it shows weights, ejections and failing polls, and sorts by weights and ejections',
  { width: 1_600 },
  async (t, page) => {
    // Where nobody listens.
    const nodes = [1, 2, 3, 4].map((port) => `127.0.0.1:${port}`)
    const [a, b, c, d] = nodes as [string, string, string, string]
    const balancer = createBalancer({
      nodes,
      algorithm: random({ weights: { [b]: 3 } }),
      poll: { interval: 500, transport: httpTransport() },
    })
    t.teardown(() => balancer.close())
    balancer.report(c, { weight: 50 })
    const { url } = await balancer.serve({ interval: 250 })
    await open(page, url)
    await page.waitForFunction(() =>
      [...document.querySelectorAll('td.polls')].every((cell) => cell.textContent !== ''),
    )
    for (let i = 0; i < 5; i++) balancer.acquire({ exclude: [a, b, c] }).release({ ok: false })
    await page.locator('td.ejected', { hasText: 's' }).waitFor()
    const cells = async (key: string) => (await page.locator(`td.${key}`).allInnerTexts()).join('|')
    t.is(await cells('weight'), '|3|0.5|')
    t.regex(await cells('ejected'), /^\|\|\|[23]\d(\.\d)? s$/)
    t.regex(await cells('polls'), /^[1-9]\d*(\|[1-9]\d*){3}$/)
    for (const [label, first] of [
      ['Weight', b],
      ['Ejected', d],
    ] as const) {
      await page.getByRole('columnheader', { name: label }).getByRole('button').click()
      await firstIs(page, first)
    }
  },
)

inBrowser('a click anywhere on a row opens its node', {}, async (t, page) => {
  const { url } = await fleet(t)
  await open(page, url)
  await row(page, '10.0.0.1:8080').locator('td.cpu').click()
  await page.getByRole('heading', { name: '10.0.0.1:8080' }).waitFor()
  t.pass()
})

inBrowser('nodes can be sorted, filtered and chosen, and the view can be held', {}, async (t, page) => {
  const { balancer, url } = await fleet(t)
  await open(page, url)
  const cpu = page.getByRole('columnheader', { name: 'CPU' })
  await cpu.getByRole('button').click()
  await page.waitForFunction(() => document.querySelector('td.cpu')?.textContent?.includes('83'))
  t.is(await cpu.getAttribute('aria-sort'), 'descending')
  await cpu.getByRole('button').click()
  await firstIs(page, '10.0.0.0:8080')
  await page.getByRole('columnheader', { name: 'Node' }).getByRole('button').click()
  await page.getByLabel('Filter').fill('drains told')
  await firstIs(page, '10.0.0.3:8080')
  t.deepEqual(await ids(page), ['10.0.0.3:8080'])
  t.is(await page.getByText('1 of 5,000 nodes').count(), 1)
  await page.getByLabel('Filter').fill('')
  await page.getByLabel('Which nodes').selectOption('In trouble')
  await firstIs(page, '10.0.0.4:8080')
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Paused').waitFor()
  balancer.report('10.0.0.4:8080', { state: 'up' })
  const rows = page.locator('tbody tr.row')
  t.is(await rows.count(), 1)
  await page.getByRole('button', { name: 'Pause' }).click()
  await rows.waitFor({ state: 'detached' })
})

inBrowser('the keyboard alone reaches all', {}, async (t, page) => {
  const { url } = await fleet(t)
  await open(page, url)
  await page.keyboard.press('/')
  const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent)
  t.is(await focused(), 'filter')
  const stops: unknown[] = []
  while (stops.at(-1) !== '10.0.0.0:8080' && stops.length < 30) {
    await page.keyboard.press('Tab')
    stops.push(await focused())
  }
  t.true(stops.includes('choice'))
  t.true(stops.includes('Pause'))
  for (const label of ['Node', 'CPU', 'Picks/s']) t.true(stops.includes(label), label)
  t.is(stops.at(-1), '10.0.0.0:8080')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  t.is(await focused(), '10.0.0.2:8080')
  await page.keyboard.press('End')
  await page.waitForFunction(() => document.activeElement?.textContent === '10.0.19.135:8080')
  await page.keyboard.press('ArrowUp')
  await page.waitForFunction(() => document.activeElement?.textContent === '10.0.19.134:8080')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => document.activeElement?.tagName === 'H2')
  t.is(await focused(), '10.0.19.134:8080')
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { name: '10.0.19.134:8080' }).waitFor({ state: 'detached' })
  t.is(await focused(), '10.0.19.134:8080')
})

const lost = { expected: [/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET/] }

inBrowser('a lost connection is said, and found again', lost, async (t, page) => {
  const { balancer, server, url } = await fleet(t)
  await open(page, url)
  await page.getByText('Live', { exact: true }).waitFor()
  await server.close()
  await page.getByText(/Connection lost; this is what was known last/).waitFor()
  t.deepEqual((await ids(page)).slice(0, 2), ['10.0.0.0:8080', '10.0.0.1:8080'])
  await balancer.serve({ port: server.port, interval: 250 })
  await page.getByText('Live', { exact: true }).waitFor()
})

const unauthorized = { expected: [/401/] }

inBrowser(
  'where there is a token the page asks for it, or takes it from the link',
  unauthorized,
  async (t, page) => {
    const { url } = await fleet(t, { token: 'open-sesame' })
    await page.goto(url)
    const field = page.getByLabel('Token')
    await field.waitFor()
    t.is(await page.locator('tbody').count(), 0)
    t.deepEqual(await faults(page), [])
    await field.fill('sesame')
    await page.keyboard.press('Enter')
    await page.getByText(/the token is wrong/).waitFor()
    await field.fill('open-sesame')
    await page.keyboard.press('Enter')
    await page.locator('tbody tr.row').first().waitFor()
    t.is(await field.count(), 0)
    await page.reload()
    await page.locator('tbody tr.row').first().waitFor()
    const other = await page.context().newPage()
    await open(other, `${url}#token=open-sesame`)
    t.is(other.url(), url)
  },
)
