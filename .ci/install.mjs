import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { locked } from './lock.mjs'
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

/**
 * Installs what a lock file beside the project's own names, unless it is installed: what is not for everybody who only
 * builds and tests. Of its packages no script runs.
 * @param {string} root
 * @param {string} from the folder of its package.json and package-lock.json, relative to root
 * @param {string} name what it is called
 * @returns {Promise<string>} the folder that its node_modules is in
 * @throws what npm says where it could not be installed
 */
export async function installApart(root, from, name) {
  const place = `node_modules/.cache/idlest/${name}`
  const folder = join(root, place)
  const files = ['package.json', 'package-lock.json']
  mkdirSync(folder, { recursive: true })
  await locked(`${folder}.lock`, () =>
    once({
      root,
      stamp: `${place}/.installed.json`,
      inputs: fingerprint(
        root,
        files.map((file) => `${from}/${file}`),
        [process.platform, process.arch],
      ),
      async make() {
        for (const file of files) copyFileSync(join(root, from, file), join(folder, file))
        const { code, output } = await progress(`installing the ${name}`, () =>
          npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
            cwd: folder,
            quiet: true,
          }),
        )
        if (code !== 0) throw new Error(`${output}npm ci failed: the ${name} could not be installed`)
        return [`${place}/node_modules/.package-lock.json`]
      },
    }),
  )
  return folder
}
