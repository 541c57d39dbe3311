import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ExecutionContext } from 'ava'
import { run } from '../cli/command.js'
import { faults, inBrowser, picture } from './browser.js'

const HOSTILE = '</script><script>document.title = "broken"</script><!-- $& {{'

const scenario = {
  name: `Noise ${HOSTILE}`,
  servers: [{ count: 3 }, { name: '<b>old', speed: 0.8 }],
  policies: [
    'adaptive',
    'round-robin',
    'least-cpu',
    { algorithm: 'leastCpu', name: `wide ${HOSTILE}`, options: { threshold: 20 } },
  ],
  arrivals: { load: '60%' },
  reportInterval: '2s',
  duration: '2min',
  changes: [
    { at: '40s', server: '<b>old', background: '50%' },
    { at: '80s', server: '<b>old', background: 0 },
  ],
}

// Tests are compiled without the types of browsers.
interface Canvas {
  readonly width: number
  readonly height: number
  getContext(kind: '2d'): {
    getImageData(
      x: number,
      y: number,
      width: number,
      height: number,
    ): { data: Uint8ClampedArray<ArrayBuffer> }
  }
}

/** Simulates, and gives the report's URL. */
async function reported(t: ExecutionContext, given: object): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-report-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const [file, html] = [join(folder, 'scenario.json'), join(folder, 'report.html')]
  writeFileSync(file, JSON.stringify(given))
  const { code, stdout, stderr } = await run('simulate', file, '--html', html)
  if (code !== 0) throw new Error(stderr)
  t.true(stdout.endsWith(`\nReport: ${html}\n`))
  // One file, that asks nobody for anything.
  t.notRegex(readFileSync(html, 'utf8'), /(?:src|href)="/)
  return pathToFileURL(html).href
}

const looks = [
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'phone', options: { colorScheme: 'light', width: 360, height: 740 } },
] as const

for (const { name, options } of looks) {
  inBrowser(
    `the report opens from its file, and axe finds nothing wrong: ${name}`,
    options,
    async (t, page) => {
      await page.goto(await reported(t, scenario))
      t.is(await page.title(), `${scenario.name} – idlest simulate`)
      t.is(await page.locator('h1').textContent(), scenario.name)
      t.deepEqual(await faults(page), [])
      t.true(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'))
      await picture(page, `report-${name}`)
    },
  )
}

inBrowser('the report shows what was printed, and draws every chart', {}, async (t, page) => {
  await page.goto(await reported(t, scenario))
  const rows = page.locator('[aria-labelledby=responses] tbody tr')
  t.deepEqual(await rows.locator('th').allTextContents(), [
    'adaptive',
    'round-robin',
    'least-cpu',
    `wide ${HOSTILE}`,
  ])
  t.regex((await rows.first().textContent()) ?? '', /adaptive[\d.]+ ms/)
  // Not one colour: the lines of policies and of changes.
  for (const canvas of await page.locator('canvas').all()) {
    const colours = await canvas.evaluate((element) => {
      const { width, height, getContext } = element as unknown as Canvas
      const { data } = getContext.call(element, '2d').getImageData(0, 0, width, height)
      return new Set(new Uint32Array(data.buffer)).size
    })
    t.true(colours > 20)
  }
  t.is(await page.locator('canvas').count(), 3)
})

inBrowser('a policy whose queues only grow never settles, and has no times', {}, async (t, page) => {
  const slow = { speed: 0.25 }
  await page.goto(
    await reported(t, {
      servers: [{ count: 3 }, slow],
      policies: ['adaptive', 'round-robin'],
      arrivals: { load: '70%' },
      requests: 20_000,
    }),
  )
  const rows = page.locator('[aria-labelledby=responses] tbody tr')
  const cells = (row: number) => rows.nth(row).locator('td').allTextContents()
  t.regex((await cells(0))[0] ?? '', /^[\d.]+ ms$/)
  t.is((await cells(0)).length, 8)
  t.is((await cells(1))[0], 'never settles')
  t.is((await cells(1)).length, 4)
  t.is(await page.locator('.best').count(), 5)
  t.is(await page.getByRole('img', { name: /round-robin never settles/ }).count(), 2)
})

inBrowser('the keyboard alone chooses policies and scrolls the tables', {}, async (t, page) => {
  await page.goto(await reported(t, scenario))
  const legend = page.locator('[aria-labelledby=tail] .chart-legend')
  t.is(await legend.locator('li').count(), 4)
  const reached = new Set<string>()
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press('Tab')
    const focused = page.locator(':focus')
    if ((await focused.count()) === 0) break
    const what = await focused.evaluate(
      (element) => element.getAttribute('aria-label') ?? element.parentElement?.textContent ?? '',
    )
    reached.add(what.trim())
    if (what.trim() === 'round-robin') await page.keyboard.press('Space')
  }
  t.true(reached.has('Response times by policy'))
  t.true(reached.has('Share and utilization by server'))
  t.true([...reached].some((what) => what.startsWith('Policy')))
  t.is(await legend.locator('li').count(), 3)
  const select = page.getByLabel('Policy', { exact: true })
  await select.focus()
  await select.press('ArrowDown')
  t.is(await select.inputValue(), 'round-robin')
})

inBrowser('a report of many servers shows the largest share in place of each', {}, async (t, page) => {
  await page.goto(await reported(t, { servers: 40, policies: ['random'], requests: 2_000 }))
  t.is(await page.locator('[aria-labelledby=servers]').count(), 0)
  t.deepEqual(await page.locator('[aria-labelledby=shares] .chart-legend span').allTextContents(), [
    'largest share',
  ])
})
