import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bin, npm, onPath } from './process.mjs'
import { progress } from './progress.mjs'
import { filesUnder, fingerprint, once } from './stamp.mjs'

const folder = 'bench/floor'

/**
 * Builds the C++ addon that the bench measures the cost of a Node-API call with. It is left out with one line
 * where this machine has no C++ compiler or no headers of Node.
 * @param {string} root
 * @returns {Promise<'fresh' | 'made' | 'failed' | 'skipped'>}
 */
export async function buildFloor(root) {
  if (!existsSync(join(root, folder, 'binding.gyp'))) return 'skipped'
  const api = JSON.parse(readFileSync(join(root, 'node_modules/node-addon-api/package.json'), 'utf8'))
  let skipped = false
  /** @param {string} reason */
  const skip = (reason) => {
    skipped = true
    console.log(`C++ addon not built, its case of the bench is left out: ${reason}`)
    return undefined
  }
  const state = await once({
    root,
    stamp: `${folder}/build/.built.json`,
    inputs: fingerprint(root, filesUnder(root, [folder], ['build']), [
      api.version,
      process.platform,
      process.arch,
    ]),
    async make() {
      if (!compilers().some(onPath)) return skip('no C++ compiler on the PATH')
      return progress('building the C++ addon', async () => {
        const configured = await gyp(root, 'configure')
        if (configured.code !== 0) return { skip: complaint(configured.output) }
        const built = await gyp(root, 'build')
        if (/node_api\.h.*(No such file|not found|Cannot open)/i.test(built.output))
          return { skip: 'no headers of Node' }
        const outputs = filesUnder(root, [`${folder}/build/Release`]).filter((file) => file.endsWith('.node'))
        if (built.code === 0 && outputs.length > 0) return { outputs }
        return { error: built.output }
      }).then((result) => {
        if (result.skip) return skip(result.skip)
        if (result.error) console.error(`${result.error}node-gyp failed: the C++ addon could not be built.`)
        return result.outputs
      })
    },
  })
  return skipped ? 'skipped' : state
}

/**
 * By `npm exec`, since npm hands its settings (`nodedir`, a proxy) on to node-gyp.
 * @param {string} root
 * @param {'configure' | 'build'} command
 */
function gyp(root, command) {
  const args = [bin(root, 'node-gyp', 'node-gyp'), command, '--directory', folder]
  return npm(['exec', '--no', '--', 'node', ...args], { cwd: root, quiet: true })
}

function compilers() {
  const named = process.env.CXX?.split(' ')[0]
  if (named) return [named]
  // node-gyp finds Visual Studio by itself, off the PATH.
  return process.platform === 'win32' ? ['node'] : ['c++', 'g++', 'clang++']
}

/** @param {string} output of node-gyp, in which a line of gyp's own or else the first of a stack says what is wrong */
function complaint(output) {
  const line = /^gyp: (.+)$/m.exec(output) ?? /gyp ERR! stack (?:Error: )?(.+)/.exec(output)
  return line?.[1] ?? 'node-gyp configure failed'
}
