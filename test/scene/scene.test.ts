import type { Locator, Page } from 'playwright-core'
import { faults, inBrowser, picture, served } from './browser.js'

async function textOf(locator: Locator): Promise<string> {
  return (await locator.textContent()) ?? ''
}

/** What a run shows under a name. */
function figure(page: Page, name: string, run = 0): Promise<string> {
  return textOf(page.locator(`[data-figure="${name}"]`).nth(run))
}

/** Minutes and seconds of the run. */
const time = (page: Page) => textOf(page.locator('#time'))

const policy = (page: Page, name: string) => page.getByRole('radio', { name, exact: true })

const press = (page: Page, name: RegExp) => page.getByRole('button', { name }).click()

/** Paused, at the start. */
async function fromStart(page: Page): Promise<void> {
  await press(page, /^Pause/)
  await press(page, /^Restart/)
}

/** Skips the first minute, and waits until that is done. */
async function skip(page: Page): Promise<void> {
  await press(page, /^Skip/)
  await page.locator('#time', { hasText: /^[1-9]:/ }).waitFor()
}

inBrowser('switching the policy starts again, with the same requests', {}, async (t, page) => {
  await page.goto(await served(t))
  await fromStart(page)
  const seen = new Map<string, string[]>()
  for (const name of ['Least loaded only', 'Round robin', 'Adaptive']) {
    await policy(page, name).check({ force: true })
    t.is(await time(page), '0:00')
    t.is(await figure(page, 'sent'), '0')
    await skip(page)
    t.is(await time(page), '1:00')
    seen.set(name, [await figure(page, 'digest'), await figure(page, 'sent')])
  }
  t.is(new Set([...seen.values()].map(String)).size, 1)
  t.true(Number(seen.get('Adaptive')?.[1]?.replace(',', '')) > 20_000)
})

inBrowser(
  'the herd is seen under least loaded only, and gone under adaptive, side by side',
  {},
  async (t, page) => {
    await page.goto(`${await served(t)}#second=adaptive`)
    await fromStart(page)
    await skip(page)
    const worst = async (run: number) => Number((await figure(page, 'worst-share', run)).split(' ')[0])
    t.true((await worst(0)) > 90)
    t.true((await worst(1)) < 60)
    t.is(await figure(page, 'digest', 0), await figure(page, 'digest', 1))
    // Somebody waits in the one, and nobody much in the other.
    const waiting = (run: number) => page.locator('.run').nth(run).locator('.waiting.many').count()
    t.true((await waiting(0)) > 0)
    t.is(await waiting(1), 0)
  },
)

inBrowser('a link brings back what was set, and what it does not understand is said', {}, async (t, page) => {
  const url = await served(t)
  await page.goto(`${url}#policy=two-choices&balancers=8&traffic=1.5&speed=fast`)
  t.true(await policy(page, 'Two choices').isChecked())
  t.is(await page.getByRole('slider', { name: 'Load balancers' }).getAttribute('aria-valuetext'), '8')
  t.regex(await textOf(page.getByRole('alert')), /speed/)
  await page.getByLabel('Beside it').selectOption('adaptive')
  const threshold = page.getByRole('slider', { name: 'Band' })
  await threshold.focus()
  await threshold.press('ArrowRight')
  t.is(
    await page.evaluate(() => location.hash),
    '#policy=two-choices&second=adaptive&traffic=1.5&balancers=8&threshold=7',
  )

  const link = page.url()
  const other = await page.context().newPage()
  await other.goto(link)
  t.is(await other.locator('.run').count(), 2)
  t.is(await other.getByRole('slider', { name: 'Band' }).getAttribute('aria-valuetext'), '7 points')
  t.is(await other.getByRole('alert').count(), 0)

  await page.evaluate(() => {
    location.hash = '#policy=adaptive'
  })
  await page.waitForFunction(() => document.querySelectorAll('.run').length === 1)
  t.true(await policy(page, 'Adaptive').isChecked())
})

inBrowser(
  'keys play, step, restart and choose, but not where text goes in, and not when off',
  {},
  async (t, page) => {
    await page.goto(await served(t))
    const isPlaying = () => page.getByRole('button', { name: 'Pause' }).isVisible()
    t.true(await isPlaying())
    await page.keyboard.press('Space')
    t.false(await isPlaying())
    await page.keyboard.press('r')
    for (let i = 0; i < 10; i++) await page.keyboard.press('.')
    t.is(await time(page), '0:01')
    await page.keyboard.press('7')
    t.true(await policy(page, 'Adaptive').isChecked())
    t.is(await time(page), '0:00')

    const seed = page.getByRole('textbox', { name: 'Seed' })
    await seed.fill('12')
    await seed.press('3')
    await seed.press('.')
    t.is(await time(page), '0:00')
    t.true(await policy(page, 'Adaptive').isChecked())

    await page.getByRole('checkbox', { name: 'Keys' }).uncheck()
    await page.keyboard.press('1')
    t.true(await policy(page, 'Adaptive').isChecked())
  },
)

inBrowser('a seed that is none is said to be none, and the run goes on as it was', {}, async (t, page) => {
  await page.goto(await served(t))
  await fromStart(page)
  const seed = page.getByRole('textbox', { name: 'Seed' })
  await seed.fill('-1')
  await seed.blur()
  t.is(await seed.getAttribute('aria-invalid'), 'true')
  t.is(await page.evaluate(() => location.hash), '')
  await seed.fill('99')
  await seed.blur()
  t.is(await seed.getAttribute('aria-invalid'), 'false')
  t.is(await page.evaluate(() => location.hash), '#seed=99')
})

inBrowser(
  'played, dots move; with reduced motion none do, and the requests are counted',
  {},
  async (t, page) => {
    const url = await served(t)
    // The dots are all that the canvas has while nothing waits.
    const painted = () =>
      page.evaluate(() => {
        const canvas = document.querySelector('canvas')
        const context = canvas?.getContext('2d')
        if (!canvas || !context) return -1
        // Left of where requests wait.
        const { data } = context.getImageData(0, 0, canvas.width / 2, canvas.height)
        return data.filter((value, i) => i % 4 === 3 && value > 0).length
      })
    await page.goto(`${url}#policy=adaptive&dot=5`)
    await page.waitForFunction(() => (document.querySelector('#time')?.textContent ?? '') >= '0:01')
    t.true((await painted()) > 0)

    await page.emulateMedia({ reducedMotion: 'reduce' })
    await page.reload()
    t.true(await page.getByRole('button', { name: 'Play' }).isVisible())
    await press(page, /^Play/)
    await page.waitForFunction(() => (document.querySelector('#time')?.textContent ?? '') >= '0:01')
    t.is(await painted(), 0)
    t.regex(await page.locator('.drawing svg').innerHTML(), /[1-9]\d* sent/)
  },
)

inBrowser('what happens is said, seldom', {}, async (t, page) => {
  await page.goto(await served(t))
  const said = page.locator('#scene [role="status"]')
  await press(page, /^Pause/)
  t.regex(await textOf(said), /^Paused\. Least loaded only at \d:\d\d\./)
  await policy(page, 'Round robin').check({ force: true })
  t.is(await textOf(said), 'Round robin, from the start.')
  await skip(page)
  t.regex(
    await textOf(said),
    /^Round robin at 1:00\..* Server 2: 25 % of requests, 100 % busy, [\d,]+ waiting\./,
  )
})

for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [1280, 360]) {
    inBrowser(
      `axe finds nothing wrong with two runs: ${colorScheme}, ${width} px`,
      { colorScheme, width },
      async (t, page) => {
        await page.goto(`${await served(t)}#second=adaptive&balancers=3`)
        await fromStart(page)
        await skip(page)
        t.deepEqual(await faults(page), [])
        t.true(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
        await picture(page, `scene-two-${colorScheme}-${width}`)
      },
    )
  }
}
