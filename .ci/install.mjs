import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { npm } from './process.mjs'
import { progress } from './progress.mjs'
import { fingerprint, once } from './stamp.mjs'

/**
 * Installs what package-lock.json names, unless it is installed.
 * @param {string} root
 */
export function install(root) {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies, overrides } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  return once({
    root,
    stamp: 'node_modules/.cache/idlest/install.json',
    // Of package.json only what `npm ci` compares with the lock file: a changed script installs nothing.
    inputs: fingerprint(
      root,
      ['package-lock.json'],
      [
        { dependencies, devDependencies, optionalDependencies, peerDependencies, overrides },
        process.platform,
        process.arch,
      ],
    ),
    async make() {
      const { code, output } = await progress('installing', () =>
        // `--include=dev`: under NODE_ENV=production too.
        npm(['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
          cwd: root,
          quiet: true,
        }),
      )
      if (code === 0) return ['node_modules/.package-lock.json']
      console.error(`${output}npm ci failed: the packages that idlest is built with could not be installed.`)
      return undefined
    },
  })
}
