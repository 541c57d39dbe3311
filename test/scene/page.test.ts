/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { Page } from 'playwright-core'
import {
  bytesLoaded,
  faults,
  inBrowser,
  keepLabels,
  labelsOf,
  outOfReach,
  picture,
  served,
  type VisitOptions,
} from './browser.js'

const phone = { width: 360, height: 740 }
const looks: readonly { name: string; link?: string; options: VisitOptions }[] = [
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'beside', link: '#second=adaptive', options: { colorScheme: 'light' } },
  { name: 'phone', options: { colorScheme: 'light', ...phone } },
  { name: 'phone-dark', link: '#second=adaptive&servers=8', options: { colorScheme: 'dark', ...phone } },
]

for (const { name, link = '', options } of looks) {
  inBrowser(
    `${name}: axe finds nothing wrong, and all fits the width of the screen`,
    { ...options, wideText: true },
    async (t, page) => {
      await page.goto(`${await served(t)}${link}`)
      await page.getByRole('button', { name: 'Pause' }).click()
      await page.getByRole('button', { name: 'Skip' }).click()
      await page.locator('#time', { hasText: /^1:/ }).waitFor()
      await picture(page, `scene-${name}`)
      t.deepEqual(await faults(page), [])
      const overhang = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement
        return scrollWidth - clientWidth
      })
      t.is(overhang, 0)
      // The policy at first sends all requests to one server.
      t.regex((await page.locator('.busy-figure').allTextContents()).join(), /100 %/)
      t.deepEqual(await outsideCards(page), [])
    },
  )
}

for (const [name, most, options] of [
  ['desktop', 400, { width: 1_280, height: 800 }],
  ['phone', 700, { width: 390, height: 844 }],
] as const) {
  inBrowser(`the drawing starts within the first screen: ${name}`, options, async (t, page) => {
    await page.goto(await served(t))
    const drawing = page.locator('.drawing').first()
    await drawing.waitFor()
    t.true(((await drawing.boundingBox())?.y ?? Number.NaN) < most)
  })
}

inBrowser(
  'however narrow the window is, every text has room',
  { width: 200, height: 600 },
  async (t, page) => {
    // Also what is drawn only while the page loads.
    await page.addInitScript(() => {
      const lengths: number[] = []
      Object.assign(globalThis, { lengths })
      const set = Element.prototype.setAttribute
      Element.prototype.setAttribute = function (name, value) {
        if (name === 'textLength') lengths.push(Number(value))
        set.call(this, name, value)
      }
    })
    await page.goto(`${await served(t)}#balancers=3&lostAt=0`)
    await page.locator('.drawing .lost').waitFor()
    const lengths = await page.evaluate(() => (globalThis as unknown as { lengths: number[] }).lengths)
    t.true(lengths.length > 0 && lengths.every((length) => length > 0), lengths.join())
    const crossing = await page.evaluate(() => {
      const right = document.querySelector('.balancers')?.getBoundingClientRect().right ?? Number.NaN
      const cards = [...document.querySelectorAll('.server .panel')].map(
        (card) => card.getBoundingClientRect().left,
      )
      return cards.filter((left) => !(left > right))
    })
    t.deepEqual(crossing, [])
  },
)

inBrowser('requests that wait are counted in whole numbers, also along the axis', {}, async (t, page) => {
  await keepLabels(page)
  await page.goto(`${await served(t)}#policy=adaptive&traffic=0.1`)
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.locator('.charts canvas').nth(1).waitFor()
  // Labels of y are to the right, at their axis; those of the other chart have a unit.
  const isCounts = (labels: string[]) =>
    labels.includes('right 0') && !labels.some((label) => /right .* m?s$/.test(label))
  const counts = (await labelsOf(page)).find(isCounts)?.filter((label) => label.startsWith('right')) ?? []
  t.true(counts.length > 1)
  t.deepEqual(
    counts,
    counts.map((_, i) => `right ${i}`),
  )
})

inBrowser('the scene page loads in under 200 KB', {}, async (t, page) => {
  await page.goto(await served(t), { waitUntil: 'networkidle' })
  const bytes = await bytesLoaded(page)
  t.log(`${bytes} bytes`)
  t.true(bytes > 10_000 && bytes < 200_000)
})

inBrowser('the keyboard alone reaches all that can be used', {}, async (t, page) => {
  await page.goto(await served(t))
  t.deepEqual(await outOfReach(page), [])
})

inBrowser('links within the page leave alone what the address holds', {}, async (t, page) => {
  const address = `${await served(t)}#policy=adaptive`
  await page.goto(address)
  await page.getByRole('navigation').getByRole('link', { name: 'The limits' }).click()
  t.is(page.url(), address)
  t.is(await page.evaluate(() => document.activeElement?.id), 'limits')
})

inBrowser('the four limits, HAProxy and gRPC are told of, with their sources', {}, async (t, page) => {
  await page.goto(await served(t))
  const limits = page.getByRole('region', { name: 'Four limits' })
  t.is(await limits.getByRole('listitem').count(), 4)
  const elsewhere = page.getByRole('region', { name: 'The same idea in HAProxy and gRPC' })
  const sources = await elsewhere
    .getByRole('link')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')))
  for (const source of [/docs\.haproxy\.org/, /A58-/, /A51-/, /A114-/]) {
    t.true(sources.some((href) => source.test(href ?? '')))
  }
})

/** Texts of server cards that are not within their card, or that overlap another one of it. */
function outsideCards(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('.server > g:first-child')].flatMap((card) => {
      const panel = card.querySelector('.panel')?.getBoundingClientRect()
      const texts = [...card.querySelectorAll('text')]
        .filter(({ textContent }) => textContent !== '')
        .map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }))
      const isOut = ({ left, right }: DOMRect) =>
        panel === undefined || left < panel.left || right > panel.right
      const isOver = (box: DOMRect) =>
        texts.some(
          ({ box: other }) =>
            other !== box &&
            Math.abs(other.top - box.top) < 5 &&
            other.left < box.right &&
            box.left < other.right,
        )
      return texts.filter(({ box }) => isOut(box) || isOver(box)).map(({ text }) => text ?? '')
    }),
  )
}
