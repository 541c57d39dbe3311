import { setTimeout } from 'node:timers/promises'
import { npm } from '../process.mjs'
import { defaultRegistry, known } from './registry.mjs'
import { distTag } from './version.mjs'

/** What was published can be seen by all after a while: how often the registry is asked for it, and how many times. */
const patience = { every: 5_000, times: 60 }

/**
 * Publishes tarballs one after the other, unless their version is there. The last one waits until all others can be seen.
 * Throws where the registry does not answer, or npm does not publish.
 * @param {import('./tarballs.mjs').Tarball[]} all in the order to publish them in
 * @param {{ registry?: string | undefined, dryRun?: boolean, say?: (text: string) => void }} [options] `registry`:
 * default what npm is set to
 */
export async function publishAll(all, { registry, dryRun = false, say = console.log } = {}) {
  const url = registry ?? (await defaultRegistry())
  for (const tarball of all) {
    const { name, version } = tarball
    const { integrity, latest } = await known(url, name)
    const there = integrity[version]
    if (there !== undefined) {
      const other = there === tarball.integrity ? '' : ', from another build than this'
      say(`${name} ${version}: is there already${other}`)
      continue
    }
    const tag = distTag(version, latest)
    say(`${name} ${version}: ${dryRun ? 'would be published' : 'publishing'} as ${tag}`)
    if (dryRun) continue
    if (tarball === all.at(-1)) await seen(all.slice(0, -1), url)
    await publish(tarball, tag, url)
  }
}

/**
 * @param {import('./tarballs.mjs').Tarball[]} parts
 * @param {string} url
 */
async function seen(parts, url) {
  for (const { name, version } of parts) {
    for (let times = 1; !(version in (await known(url, name)).integrity); times++) {
      if (times === patience.times) throw new Error(`${name} ${version} was published, and can't be seen yet`)
      await setTimeout(patience.every)
    }
  }
}

/**
 * @param {import('./tarballs.mjs').Tarball} tarball
 * @param {string} tag
 * @param {string} url
 */
async function publish({ name, file }, tag, url) {
  // Where GitHub vouches for the workflow that runs, the package tells which commit it was made from.
  const provenance = process.env.ACTIONS_ID_TOKEN_REQUEST_URL ? ['--provenance'] : []
  const { code, output } = await npm(
    ['publish', file, '--access', 'public', '--tag', tag, ...provenance, '--registry', url],
    { quiet: true },
  )
  if (code !== 0) throw new Error(`${output}npm publish of ${name} failed`)
}
