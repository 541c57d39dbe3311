import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { engines } from '../support/engines.js'
import { run } from './program.js'

const folder = mkdtempSync(join(tmpdir(), 'idlest-exits-'))
test.after.always(() => rmSync(folder, { recursive: true, force: true }))

/** Most time until a process ends, ms: while it loads, while all of it starts, and while all runs. */
const POINTS = [0, 20, 60, 120, 200, 300, 400, 500, 650, 800, 1_000, 1_500]

const file = engines.includes('native') && process.platform === 'linux' ? [join(folder, 'table')] : []

for (const where of ['main', 'worker', 'crash'] as const) {
  test.serial(
    `a process that ends by ${where === 'crash' ? 'an error' : `process.exit in ${where === 'main' ? 'the main thread' : 'a thread'}`} in the middle of everything ends with its own code`,
    async (t) => {
      // On a busy machine.
      t.timeout(300_000)
      for (const [i, most] of POINTS.entries()) {
        const ms = Math.round(most * (0.5 + Math.random() / 2))
        const expected = where === 'crash' ? 1 : 3 + i
        const { code, signal, err } = await run('exits.mjs', {
          // What is warned of as all ends is no fault.
          flags: ['--no-warnings'],
          args: [`${ms}`, `${expected}`, where, ...file],
        })
        t.deepEqual([code, signal], [expected, null], `after ${ms} ms: ${err}`)
        if (where === 'crash') t.regex(err, /Error: on purpose/)
        else t.is(err, '', `after ${ms} ms`)
      }
    },
  )
}
