/// <reference lib="dom" />
import type { ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { estimateFleet, type FleetInputs } from '../../dist/index.js'
import { faults, inBrowser, picture, served } from './browser.js'

async function open(t: ExecutionContext, page: Page): Promise<void> {
  await page.goto(await served(t))
  await page.getByRole('heading', { name: 'The estimate' }).waitFor()
}

/** The results that are shown, by step: as text, and as the page has them unrounded. */
async function results(page: Page): Promise<{ text: string; value: number }[]> {
  return page.locator('#estimate [data-step] data').evaluateAll((found) =>
    found.map((element) => ({
      text: element.textContent ?? '',
      value: Number(element.getAttribute('value')),
    })),
  )
}

function unrounded(inputs?: Partial<FleetInputs>): number[] {
  const { average, peak, planned, load, equalShare, bySpareCapacity, perReport } = estimateFleet(inputs)
  return [average, peak, planned, load, equalShare, bySpareCapacity, perReport]
}

inBrowser(
  'the example: each number as the estimate has it, rounded where it is shown',
  {},
  async (t, page) => {
    await open(t, page)
    const shown = await results(page)
    t.deepEqual(
      shown.map(({ text }) => text),
      ['579 requests/s', '1,157 requests/s', '10', '58 %', '116 %', '61 %', '2,315 requests'],
    )
    t.deepEqual(
      shown.map(({ value }) => value),
      unrounded(),
    )
    const estimate = page.locator('#estimate')
    t.true(await estimate.getByText('ceil(peak / (capacity × target))').isVisible())
    t.true(await estimate.getByText('ceil(1,157.4 / (200 × 0.6))').isVisible())
    t.true(await estimate.getByText('reports are weights, not a single winner').isVisible())
    t.regex(
      (await estimate.textContent()) ?? '',
      /The scene draws 4 of these servers, which get 463 requests\/s/,
    )
  },
)

inBrowser('the round-robin line over 100 % is shown as what it is, until it is not', {}, async (t, page) => {
  await open(t, page)
  const over = page.locator('#estimate .over')
  t.is(await over.count(), 1)
  t.regex((await over.textContent()) ?? '', /round robin.*116 %/)
  const note = page.locator('#estimate').getByText(/over 100 % by an equal share .* queue grows by 15\.7/)
  t.true(await note.isVisible())
  await page.getByLabel('CPU that one server loses').fill('0.3')
  await page.getByText('one server losing 30 % of its CPU').waitFor()
  t.is(await over.count(), 0)
  t.is(await note.count(), 0)
})

inBrowser('every input counts, by the keyboard alone', {}, async (t, page) => {
  await open(t, page)
  const typed = {
    dailyActiveUsers: '2,500,000',
    requestsPerUserPerDay: '12.5',
    peakFactor: '3',
    trafficFactor: '0.75',
    serverCapacity: '1e2',
    targetLoad: '.5',
    servers: '25',
    lostShare: '0.25',
    reportInterval: '5',
  }
  await page.getByLabel('users a day', { exact: true }).focus()
  for (const text of Object.values(typed)) {
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type(text)
    await page.keyboard.press('Tab')
  }
  const inputs = { ...typed, dailyActiveUsers: '2500000' }
  const numbers = Object.fromEntries(Object.entries(inputs).map(([name, text]) => [name, Number(text)]))
  t.deepEqual(
    (await results(page)).map(({ value }) => value),
    unrounded(numbers),
  )
  // The button comes after the last input.
  await page.keyboard.press('Enter')
  t.deepEqual(
    (await results(page)).map(({ value }) => value),
    unrounded(),
  )
})

inBrowser('what is wrong is explained at its input, and nothing is made of it', {}, async (t, page) => {
  await open(t, page)
  const wrong = [
    ['target load', '1', /Expected a share above 0 and below 1 \(60 % is 0\.6\)/],
    ['target load', '0', /above 0/],
    ['CPU that one server loses', '1', /a server that lost all of its CPU is down/],
    ['users a day', 'many', /Expected a number of users of at least 0/],
    ['users a day', '', /Expected a number of users/],
    ['users a day', '1e309', /Expected a number of users/],
    ['users a day', '1e308', /more than a number can hold/],
    ['report interval', '2000', /2,000 ms are 2/],
    ['peak factor', '1,5', /Expected a multiple/],
  ] as const
  for (const [label, text, says] of wrong) {
    const input = page.getByLabel(label, { exact: true })
    const before = await input.inputValue()
    await input.fill(text)
    await page.locator('#estimate .estimate-missing').waitFor()
    t.is(await input.getAttribute('aria-invalid'), 'true', label)
    const id = (await input.getAttribute('id')) ?? ''
    t.regex((await page.locator(`#${id}-fault`).textContent()) ?? '', says)
    t.true((await input.getAttribute('aria-describedby'))?.includes(`${id}-fault`))
    t.is(await page.locator('#estimate [aria-invalid="true"]').count(), 1)
    t.deepEqual(await results(page), [])
    t.regex((await page.locator('#estimate .estimate-missing').textContent()) ?? '', new RegExp(label))
    await input.fill(before)
    await page.locator('#estimate [data-step]').first().waitFor()
  }
  t.is(await page.locator('#estimate [aria-invalid="true"]').count(), 0)
})

inBrowser('what is entered runs in the scene, and the address holds it', {}, async (t, page) => {
  const url = await served(t)
  await page.goto(url)
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByLabel('users a day', { exact: true }).fill('432,000')
  await page.getByLabel('capacity of a server').fill('50')
  await page.getByLabel('servers that run').fill('6')
  const address = '#users=432000&capacity=50&servers=6'
  await page.waitForFunction((hash) => location.hash === hash, address)
  t.is(await page.locator('.drawing .server').count(), 6)
  t.is(await page.locator('#servers-1 tbody tr').count(), 6)
  t.regex((await page.locator('.drawing .users').textContent()) ?? '', /500/)
  t.regex(
    (await page.locator('.fleet').textContent()) ?? '',
    /^All 6 servers of the estimate, at 167 % load: 83\.3 requests\/s each, for a capacity of 50\.$/,
  )
  await picture(page, 'scene-six-servers')

  const other = await page.context().newPage()
  await other.goto(`${url}${address}`)
  t.is(await other.locator('.drawing .server').count(), 6)
  t.is(await other.getByLabel('users a day', { exact: true }).inputValue(), '432,000')
  t.is(await other.getByLabel('servers that run').inputValue(), '6')
  t.deepEqual(
    (await results(other)).map(({ value }) => value),
    unrounded({ dailyActiveUsers: 432_000, serverCapacity: 50, servers: 6 }),
  )
  // The same the other way round: the scene's controls set the estimate.
  const traffic = other.getByRole('slider', { name: 'Traffic' })
  await traffic.focus()
  await traffic.press('ArrowLeft')
  t.is(await other.getByLabel('traffic now').inputValue(), '0.9')
  await other.getByLabel('traffic now').fill('wrong')
  t.is(await other.evaluate(() => location.hash), '#users=432000&traffic=0.9&capacity=50&servers=6')
  await other.getByRole('button', { name: 'Back to the example' }).click()
  await other.waitForFunction(() => location.hash === '')
  t.is(await other.locator('.drawing .server').count(), 4)
  t.is(await other.getByLabel('traffic now').inputValue(), '1')
  await other.evaluate(() => {
    location.hash = '#servers=2'
  })
  await other.waitForFunction(() => document.querySelectorAll('.drawing .server').length === 2)
  t.is(await other.getByLabel('servers that run').inputValue(), '2')
  await picture(other, 'scene-two-servers')
})

inBrowser('nobody there: zeros, and no NaN', {}, async (t, page) => {
  await open(t, page)
  await page.getByLabel('users a day', { exact: true }).fill('0')
  await page.getByText('without any traffic it is one server all the same').waitFor()
  const text = (await page.locator('#estimate').textContent()) ?? ''
  t.notRegex(text, /NaN|Infinity|undefined|∞/)
})

for (const [name, options] of [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { colorScheme: 'light', width: 360, height: 740 }],
] as const) {
  inBrowser(`axe finds nothing wrong with inputs that are: ${name}`, options, async (t, page) => {
    await open(t, page)
    t.deepEqual(await faults(page, '#estimate'), [])
    await picture(page, `estimate-${name}`, '#estimate')
    t.is(await page.locator('html').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth), 0)
    await page.getByLabel('target load').fill('60')
    await page.getByLabel('peak factor').fill('x')
    await page.locator('#estimate .estimate-missing').waitFor()
    t.deepEqual(await faults(page, '#estimate'), [])
    await picture(page, `estimate-wrong-${name}`, '#estimate')
  })
}
