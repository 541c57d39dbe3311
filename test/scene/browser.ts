// What is handed to `evaluate` runs in the page.
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { listen } from '../../dist/web/listening.js'
import { answerPage, answerPlainly, type PageName, pageFile } from '../../dist/web/pages.js'

/** Where Chromium is: what CHROMIUM says, or where systems put it. Undefined where there is none. */
const executable = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
  .filter((path) => path !== undefined)
  .find((path) => existsSync(path))

let launched: Promise<Browser> | undefined

// Each file of tests is a process with one browser, and each test a profile of its own.
function browser(): Promise<Browser> {
  launched ??= chromium.launch({
    executablePath: executable,
    // As root in a container there is no sandbox to be had, and little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
  return launched
}

if (executable === undefined) {
  console.log('tests in a browser are left out: no Chromium here (CHROMIUM names one)')
  // ava takes a file without any test for a mistake.
  test('the pages are built', (t) => {
    for (const page of ['scene', 'live', 'report']) t.true(pageFile(`${page}.html`).body.length > 0)
  })
} else {
  test.after.always('the browser is closed', async () => {
    await (await launched)?.close()
  })
}

/** How a visitor comes. */
export interface VisitOptions {
  /** CSS pixels; 1280 by 900 unless given. */
  readonly width?: number
  readonly height?: number
  readonly colorScheme?: 'light' | 'dark'
  readonly reducedMotion?: 'reduce' | 'no-preference'
  /** Stretches all text as far as the widest usual font would: what fits then fits in any font. */
  readonly wideText?: boolean
  /** Errors that the test itself brings about, such as a lost connection. */
  readonly expected?: readonly RegExp[]
}

/** On this machine: everything else is another host. */
function isHere(url: URL): boolean {
  return (
    ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname) ||
    ['file:', 'data:', 'blob:'].includes(url.protocol)
  )
}

/**
 * Registers a test that runs in a real Chromium, one after the other in a file; no test where there is none. It fails
 * also for an error on the console, an uncaught one, a request that fails, and any request to another host.
 */
export function inBrowser(
  title: string,
  options: VisitOptions,
  run: (t: ExecutionContext, page: Page) => Promise<void>,
): void {
  if (executable === undefined) return
  const { width = 1280, height = 900, wideText = false, expected = [], ...preferences } = options
  test.serial(title, async (t) => {
    const context = await (await browser()).newContext({ viewport: { width, height }, ...preferences })
    // Longer than the usual 30 s: a machine that runs all tests at once may have little left for a browser.
    context.setDefaultTimeout(60_000)
    try {
      // The loader of these tests has functions that `evaluate` sends to the page call this.
      await context.addInitScript('globalThis.__name = (value) => value')
      if (wideText) await context.addInitScript(widenText)
      const page = await context.newPage()
      const problems: string[] = []
      const note = (problem: string) => {
        if (!expected.some((pattern) => pattern.test(problem))) problems.push(problem)
      }
      page.on('console', (message) => {
        if (message.type() === 'error') note(`console: ${message.text()}`)
      })
      page.on('pageerror', (error) => note(`uncaught: ${error.message}`))
      await context.route(
        (url) => !isHere(url),
        (route) => {
          note(`another host: ${route.request().url()}`)
          return route.abort()
        },
      )
      await run(t, page)
      t.deepEqual(problems, [])
    } finally {
      await context.close()
    }
  })
}

/**
 * Makes the page's text as wide as in DejaVu Sans Bold, the widest of the fonts that systems use for pages, whichever
 * fonts this machine has: it adds to the space between letters what its own fonts lack. By a style sheet made in the
 * page, because the pages' policy forbids others.
 */
function widenText(): void {
  /** Mean width of the sample's characters in DejaVu Sans Bold, em. */
  const widest = 0.55
  const sample =
    'Server 1: 100 % of requests, last told CPU 65 %, 1.9 s ago. Picks/s, in flight 10.0.0.1:8080'
  const sheet = new CSSStyleSheet()
  const widen = () => {
    const context = document.createElement('canvas').getContext('2d')
    if (context === null) throw new Error('no canvas to measure text with')
    const { fontFamily } = getComputedStyle(document.body)
    const widenedBy = (weight: number) => {
      context.font = `${weight} 100px ${fontFamily}`
      return Math.max(widest - context.measureText(sample).width / sample.length / 100, 0).toFixed(4)
    }
    sheet.replaceSync(`
      * { letter-spacing: ${widenedBy(400)}em !important }
      :is(h1, h2, h3, h4, dt, b, button, th, .value, .badge) { letter-spacing: ${widenedBy(600)}em !important }
    `)
    if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet)
  }
  // Before the page's own scripts measure any text, and again once its style sheets have loaded.
  document.addEventListener('readystatechange', widen)
  document.addEventListener('DOMContentLoaded', widen)
}

/** Serves a page until the test ends. Returns its URL. */
export async function served(t: ExecutionContext, page: PageName = 'scene'): Promise<string> {
  const server = createServer((request, response) => {
    if (!answerPage(page, request, response)) answerPlainly(response, 404, 'not found')
  })
  const { port, close } = await listen(
    server,
    { host: '127.0.0.1', port: 0, maxConnections: 100, unref: true },
    { dropped: 0, acceptErrors: 0 },
  )
  t.teardown(close)
  return `http://127.0.0.1:${port}/`
}

/**
 * What axe finds wrong with a page, one line each: the rule, and where. By all rules, its best practices too.
 * @param within a selector, to look at a part of the page alone
 */
export async function faults(page: Page, within = 'html'): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async (within) => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
    const { violations } = await axe.run(within, { reporter: 'v2' })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary = '' }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    )
  }, within)
}

/** What `keepLabels` gives the page. */
export interface Painted {
  labels(): string[][]
}

/** Has a page that is opened next keep the labels of its charts, which are painted: those that each canvas was last painted with. */
export async function keepLabels(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const painted = new Map<object, string[]>()
    const context = CanvasRenderingContext2D.prototype
    const { clearRect, fillText } = context
    context.clearRect = function (...box) {
      painted.set(this, [])
      clearRect.apply(this, box)
    }
    context.fillText = function (text, ...at) {
      // Labels of x are centred, and those of y are not.
      painted.get(this)?.push(`${this.textAlign} ${text}`)
      fillText.call(this, text, ...at)
    }
    Object.assign(globalThis, { labels: () => [...painted.values()] })
  })
}

/** The labels of each chart, each with how it is aligned. */
export function labelsOf(page: Page): Promise<string[][]> {
  return page.evaluate(() => (globalThis as unknown as Painted).labels())
}

/** Keeps a picture of the whole page, or of a part of it, in build/screens. */
export async function picture(page: Page, name: string, part?: string): Promise<void> {
  const folder = fileURLToPath(new URL('../../build/screens/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  const path = `${folder}${name}.png`
  if (part === undefined) await page.screenshot({ path, fullPage: true })
  else await page.locator(part).screenshot({ path })
}

const CONTROLS = 'a[href], button:not(:disabled), input:not(:disabled), select, summary, [tabindex="0"]'

/**
 * What can be used on a page but is not reached by pressing Tab from its start; of radio buttons one in a group is
 * enough, since arrow keys do the rest.
 */
export async function outOfReach(page: Page): Promise<string[]> {
  const left = await page.evaluateHandle((controls) => {
    // By element, not by text: that changes while a page runs.
    const keyOf = (element: Element) =>
      element instanceof HTMLInputElement && element.type === 'radio' ? `radio ${element.name}` : element
    const shown = [...document.querySelectorAll(controls)].filter((element) => element.checkVisibility())
    const left = new Set(shown.map(keyOf))
    document.addEventListener('focusin', ({ target }) => {
      if (target instanceof Element) left.delete(keyOf(target))
    })
    return left
  }, CONTROLS)
  await page.evaluate(() => {
    document.body.tabIndex = -1
    document.body.focus()
  })
  // Past the last one the focus leaves the page, and comes to its start again.
  const most = 2 * (await page.locator(CONTROLS).count()) + 10
  for (let i = 0; i < most; i++) {
    if ((await left.evaluate(({ size }) => size)) === 0) break
    await page.keyboard.press('Tab')
  }
  return left.evaluate((left) =>
    [...left].map((key) => (typeof key === 'string' ? key : key.outerHTML.slice(0, 200))),
  )
}

/** Bytes that came for a page and all that it loaded, as they were sent. */
export async function bytesLoaded(page: Page): Promise<number> {
  return page.evaluate(() =>
    [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce(
      (sum, entry) => sum + (entry as PerformanceResourceTiming).transferSize,
      0,
    ),
  )
}
