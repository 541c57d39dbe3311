import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'
import { pathOf } from './program.js'

const run = promisify(execFile)

// Windows has no such limit.
const onPosix = process.platform === 'win32' ? test.skip : test.serial

for (const free of [0, 3, 12, 40]) {
  onPosix(`polling and serving recover from a start with ${free} file descriptors`, async (t) => {
    t.timeout(120_000)
    const program = 'ulimit -n 500 && exec "$0" --no-warnings "$@"'
    const args = ['-c', program, process.execPath, pathOf('descriptors.mjs'), String(free)]
    const { NODE_OPTIONS: _, ...env } = process.env
    const { stdout } = await run('sh', args, { env })
    const { during, byGrpc, ...later } = JSON.parse(stdout)
    t.is(during, 'EMFILE')
    t.deepEqual(later, { first: true, another: true, served: true })
    t.notRegex(byGrpc, /EMFILE/)
  })
}
