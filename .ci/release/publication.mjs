import { setTimeout } from 'node:timers/promises'
import { npm } from '../process.mjs'
import { registry, registryOption } from './registry.mjs'
import { distTag } from './version.mjs'

/** What was published can be seen by all after a while: how often npm is asked for it, and how many times. */
const patience = { every: 5_000, times: 60 }

/**
 * Publishes tarballs one after the other, unless their version is there. The last one waits until all others can be seen.
 * @param {import('./tarballs.mjs').Tarball[]} all in the order to publish them in
 * @param {{ url?: string | undefined, dryRun?: boolean, say?: (text: string) => void }} [options] `url`: of the registry
 * @returns {Promise<string | undefined>} why it broke off
 */
export async function publishAll(all, { url, dryRun = false, say = console.log } = {}) {
  const ask = registry(url)
  for (const tarball of all) {
    const { name, version, integrity } = tarball
    const there = await ask(`${name}@${version}`, 'dist.integrity')
    if (there.error !== undefined) return there.error
    if (there.value !== undefined) {
      const other = there.value === integrity ? '' : ', from another build than this'
      say(`${name} ${version}: is there already${other}`)
      continue
    }
    const latest = await ask(name, 'dist-tags.latest')
    if (latest.error !== undefined) return latest.error
    const tag = distTag(version, latest.value)
    say(`${name} ${version}: ${dryRun ? 'would be published' : 'publishing'} as ${tag}`)
    if (dryRun) continue
    if (tarball === all.at(-1)) {
      const unseen = await waitFor(all.slice(0, -1), ask)
      if (unseen !== undefined) return unseen
    }
    const failed = await publish(tarball, tag, url)
    if (failed !== undefined) return failed
  }
  return undefined
}

/**
 * @param {import('./tarballs.mjs').Tarball[]} parts
 * @param {import('./registry.mjs').Ask} ask
 */
async function waitFor(parts, ask) {
  for (const { name, version } of parts) {
    for (let times = 0; ; times++) {
      const { value } = await ask(`${name}@${version}`, 'version')
      if (value !== undefined) break
      if (times === patience.times) return `${name} ${version} was published, and can't be seen yet`
      await setTimeout(patience.every)
    }
  }
  return undefined
}

/**
 * @param {import('./tarballs.mjs').Tarball} tarball
 * @param {string} tag
 * @param {string | undefined} url
 */
async function publish({ name, file }, tag, url) {
  // Where GitHub vouches for the workflow that runs, the package tells which commit it was made from.
  const provenance = process.env.ACTIONS_ID_TOKEN_REQUEST_URL ? ['--provenance'] : []
  const { code, output } = await npm(
    ['publish', file, '--access', 'public', '--tag', tag, ...provenance, ...registryOption(url)],
    { quiet: true },
  )
  return code === 0 ? undefined : `${output}npm publish of ${name} failed`
}
