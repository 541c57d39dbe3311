import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { engines } from '../support/engines.js'
import { run } from './program.js'

interface Look {
  rss: number
  used: number
  alive: number
  handles: string[]
  files: number
  listeners: number
}

const MIB = 2 ** 20
const folder = mkdtempSync(join(tmpdir(), 'idlest-leaks-'))
test.after.always(() => rmSync(folder, { recursive: true, force: true }))

/** Kinds, and how often each is made and closed here; `npm run test:leaks` does all of them 1,000 times. */
const KINDS: readonly (readonly [kind: string, cycles: number])[] = [
  ['balancers', 1_000],
  ['attached', 1_000],
  ['discoveries', 1_000],
  ['polled', 1_000],
  ['meters', 1_000],
  ['agents', 200],
  ['threads', 20],
  ['workers', 20],
  ...(engines.includes('native') && process.platform === 'linux' ? ([['files', 300]] as const) : []),
]

const all = process.argv.includes('--all')

for (const [kind, few] of KINDS) {
  const cycles = all ? 1_000 : few
  test.serial(`${kind} that are made and closed ${cycles} times leave nothing`, async (t) => {
    // On a busy machine.
    t.timeout(1_800_000)
    const args = [kind, `${cycles}`, join(folder, 'table')]
    const { code, out, err } = await run('leaks.mjs', { args, flags: ['--expose-gc'] })
    t.deepEqual([code, err], [0, ''])
    const looks = JSON.parse(out) as Look[]
    t.is(looks.length, 10)
    // The first half is a warm-up.
    const [half, last] = [looks[4] as Look, looks.at(-1) as Look]
    t.is(last.alive, 0)
    t.deepEqual(last.handles, (looks[0] as Look).handles)
    t.is(last.listeners, (looks[0] as Look).listeners)
    t.true(last.files <= half.files, `${last.files} files are open, and ${half.files} were`)
    // By the least of the last looks, since what the engine of the language keeps goes up and down.
    const least = (of: 'used' | 'rss') => Math.min(...looks.slice(-3).map((look) => look[of])) - half[of]
    t.true(least('used') < MIB / 4, `in use: ${least('used')} bytes more`)
    t.true(least('rss') < 8 * MIB, `the process: ${least('rss')} bytes more`)
  })
}
