import { faults, inBrowser, picture, served } from './browser.js'

const looks = [
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'phone', options: { colorScheme: 'light', width: 360, height: 740 } },
] as const

for (const { name, options } of looks) {
  inBrowser(`axe finds nothing wrong with the scene page: ${name}`, options, async (t, page) => {
    await page.goto(await served(t))
    t.deepEqual(await faults(page), [])
    await picture(page, `scene-${name}`)
  })
}
