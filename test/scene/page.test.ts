import { bytesLoaded, faults, inBrowser, outOfReach, picture, served } from './browser.js'

const looks = [
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'phone', options: { colorScheme: 'light', width: 360, height: 740 } },
  { name: 'phone, dark', options: { colorScheme: 'dark', width: 360, height: 740 } },
] as const

for (const { name, options } of looks) {
  inBrowser(`${name}: axe finds nothing wrong with the scene page`, options, async (t, page) => {
    await page.goto(await served(t))
    await picture(page, `scene-${name.replace(', ', '-')}`)
    t.deepEqual(await faults(page), [])
  })

  inBrowser(`${name}: the scene page is no wider than the screen`, options, async (t, page) => {
    await page.goto(await served(t))
    const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
    t.is(scrollWidth, clientWidth)
  })
}

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
