import { readFileSync } from 'node:fs'
import test from 'ava'
import fc from 'fast-check'
import { haproxyWeight, readAgentCheck, writeAgentCheck } from '../../dist/reports/agent-check.js'
import { MAX_REPORT } from '../../dist/reports/orca-fields.js'
import { readOrRefused, refused } from '../support/reports.js'

interface Case {
  readonly id: string
  readonly reply: string
  readonly initialWeight?: number
  readonly weight?: number | 'unchanged'
  readonly maxconn?: number
  readonly admin?: 'ready' | 'drain' | 'maint'
  readonly health?: 'up' | 'down' | 'unchanged'
  readonly description?: string
  readonly unknown?: string[]
  readonly error?: boolean
  readonly ignored?: boolean
  readonly twice?: boolean
}
const { cases }: { cases: Case[] } = JSON.parse(
  readFileSync(new URL('../vectors/agent-check.json', import.meta.url), 'utf8'),
)

const UNCHANGED = undefined
const orUnchanged = <T>(value: T | 'unchanged' | undefined): T | undefined =>
  value === 'unchanged' ? UNCHANGED : value

for (const row of cases) {
  test(`vector ${row.id}: ${JSON.stringify(row.reply)}`, (t) => {
    const reply = readAgentCheck(row.reply)
    if (row.ignored === true) {
      t.is(reply, undefined)
      return
    }
    if (reply === undefined) {
      t.fail('the reply was ignored')
      return
    }
    t.is(haproxyWeight(reply, row.initialWeight ?? 100), orUnchanged(row.weight))
    t.is(reply.health, orUnchanged(row.health))
    t.is(reply.admin, row.admin)
    t.is(reply.maxconn, row.maxconn)
    t.deepEqual(reply.unknown, row.unknown ?? [])
    t.is(reply.errors.length, row.error === true ? 1 : 0)
    if (row.description !== undefined) t.is(reply.description, row.description)
    // As bytes it is the same, and heard again it is of the configured weight again.
    t.deepEqual(readAgentCheck(Buffer.from(row.reply)), reply)
  })
}

test('the vectors are those that were copied: 18 cases', (t) => {
  t.is(cases.length, 18)
})

for (const [text, expected] of [
  ['\n', {}],
  ['\r\nup\n', {}],
  ['up\0down\n', { health: 'up' }],
  ['up\rdown\n', { health: 'up' }],
  [' ,\tup,,50%\t\n', { health: 'up', percent: 50 }],
  ['Stopped\n', { health: 'down' }],
  ['FAIL\n', { health: 'down' }],
  ['down up\n', { health: 'up' }],
  ['up fail\n', { health: 'down' }],
  ['READY Drain mAINT\n', { admin: 'maint' }],
  ['50% 60%\n', { percent: 60 }],
  ['50% weight:60\n', { weight: 60 }],
  ['weight:60 50%\n', { percent: 50 }],
  ['Weight:75%\n', { percent: 75 }],
  ['weight:256\n', { weight: 256 }],
  ['weight:+5\n', { weight: 5 }],
  ['weight:-0\n', { weight: 0 }],
  ['25601%\n', { percent: 25_600 }],
  [`${'9'.repeat(400)}%\n`, { percent: 25_600 }],
  ['MAXCONN:0\n', { maxconn: 0 }],
  ['maxconn:30 maxconn:40\n', { maxconn: 40 }],
  ['up # \t a # b,c\n', { health: 'up', description: 'a # b,c' }],
  ['up,#x\n', { health: 'up', description: 'x' }],
  ['up #\n', { health: 'up' }],
  ['up #größe\n', { health: 'up', description: 'größe' }],
  ['+50% -50% 5 %\n', { unknown: ['+50%', '-50%', '5', '%'] }],
  ['up garbage drain\n', { health: 'up', admin: 'drain', unknown: ['garbage'] }],
] as const) {
  test(`${JSON.stringify(text.slice(0, 40))} is read`, (t) => {
    t.deepEqual(readAgentCheck(text), { unknown: [], errors: [], ...expected })
  })
}

for (const [text, kept] of [
  ['50.5% up\n', { health: 'up' }],
  ['7%x\n', {}],
  ['50%%\n', {}],
  ['5x%\n', {}],
  ['50% 7%x\n', {}],
  ['weight:\n', {}],
  ['weight:%\n', {}],
  ['weight:-1\n', {}],
  ['weight:-1%\n', {}],
  ['weight:257\n', {}],
  ['weight:1e2\n', {}],
  ['weight:0x10\n', {}],
  ['maxconn:\n', {}],
  ['maxconn:-1 maint\n', { admin: 'maint' }],
  ['maxconn:3.5\n', {}],
  ['maxconn:1e3\n', {}],
  ['maxconn:9999999999999\n', {}],
] as const) {
  test(`${JSON.stringify(text)} has an error, which changes nothing`, (t) => {
    const reply = readAgentCheck(text)
    t.is(reply?.errors.length, 1)
    t.regex(reply?.errors[0] ?? '', /^"[^"]+": expected a whole (number|percentage)/)
    t.deepEqual(reply, { unknown: [], errors: reply?.errors ?? [], ...kept })
  })
}

test('of many long unknown words a few are told, and not all of each; what follows still counts', (t) => {
  const words = Array.from({ length: 1000 }, (_, i) => `${i}${'x'.repeat(60)}`)
  const reply = readAgentCheck(`${words.join(' ')} ${'y'.repeat(1000)} down\n`)
  t.deepEqual(reply?.unknown, words.slice(0, 16))
  t.is(reply?.health, 'down')
  t.deepEqual(readAgentCheck(`${'y'.repeat(1000)}\n`)?.unknown, ['y'.repeat(64)])
})

test('a wrong weight and a wrong limit are two errors', (t) => {
  t.is(readAgentCheck('x% 7%x maxconn:x\n')?.errors.length, 2)
})

test('a reply without a line end is ignored, one longer than 64 KiB is refused', (t) => {
  for (const reply of ['', 'up', 'up 50% #fine', new Uint8Array()]) t.is(readAgentCheck(reply), undefined)
  t.is(readAgentCheck(`up ${' '.repeat(MAX_REPORT - 4)}\n`)?.health, 'up')
  refused(t, () => readAgentCheck(`up\n${' '.repeat(MAX_REPORT)}`), '')
  refused(t, () => readAgentCheck(new Uint8Array(MAX_REPORT + 1)), '')
})

for (const [state, text] of [
  [{ state: 'up', percent: 73 }, 'ready up 73%\n'],
  [{ state: 'up', percent: 72.5 }, 'ready up 73%\n'],
  [{ state: 'up', percent: 100 }, 'ready up 100%\n'],
  [{ state: 'up', percent: 130 }, 'ready up 130%\n'],
  [{ state: 'up', percent: 30_000 }, 'ready up 25600%\n'],
  [{ state: 'up', percent: 0.4 }, 'ready up 1%\n'],
  [{ state: 'up', percent: 0 }, 'ready up 1%\n'],
  [{ state: 'down', percent: 0 }, 'ready down 1%\n'],
  [{ state: 'drain', percent: 0 }, 'drain up 0%\n'],
  [{ state: 'drain', percent: 73 }, 'drain up 73%\n'],
  [{ state: 'maint', percent: 73 }, 'maint up 73%\n'],
  [{ state: 'up', percent: 73, maxInFlight: 30 }, 'ready up 73% maxconn:30\n'],
  [{ state: 'up', percent: 73, maxInFlight: 0.2 }, 'ready up 73% maxconn:1\n'],
  [{ state: 'up', percent: 73, maxInFlight: 0 }, 'ready up 73% maxconn:0\n'],
  [{ state: 'up', percent: 73, maxInFlight: 1e12 }, 'ready up 73% maxconn:2147483647\n'],
] as const) {
  test(`${JSON.stringify(state)} is written as ${JSON.stringify(text)}`, (t) => {
    t.is(writeAgentCheck(state), text)
  })
}

test('what is written is read back whole, whatever was said before', (t) => {
  const admins = { up: 'ready', drain: 'drain', maint: 'maint', down: 'ready' } as const
  fc.assert(
    fc.property(
      fc.constantFrom('up', 'drain', 'maint', 'down'),
      fc.double({ min: 0, max: 200, noNaN: true }),
      fc.double({ min: 0, max: 1e12, noNaN: true }),
      (state, percent, maxInFlight) => {
        const reply = readAgentCheck(writeAgentCheck({ state, percent, maxInFlight }))
        t.is(reply?.admin, admins[state])
        t.is(reply?.health, state === 'down' ? 'down' : 'up')
        t.true(Math.abs((reply?.percent ?? -1) - Math.min(percent, 25_600)) <= (percent < 0.5 ? 1 : 0.5))
        t.is(reply?.maxconn === 0, maxInFlight === 0)
        t.deepEqual([reply?.unknown, reply?.errors], [[], []])
      },
    ),
  )
})

test('any reply is read, its values in range; each word but the last of its kind is told of or counts', (t) => {
  const word = fc.oneof(
    fc.constantFrom(
      'up',
      'DOWN',
      'drain',
      'ready',
      'weight:',
      'maxconn:',
      '%',
      '#',
      '7%',
      '\0',
      '\r',
      'ſtopped',
    ),
    fc.nat().map(String),
    fc.string({ unit: 'binary', maxLength: 4 }),
  )
  const text = fc
    .array(fc.tuple(word, fc.constantFrom('', ' ', ',', '\t', '\n')))
    .map((words) => words.flat().join(''))
  let read = 0
  fc.assert(
    fc.property(fc.oneof(text, fc.string()), (line) => {
      const reply = readOrRefused(() => readAgentCheck(line))
      t.is(reply === undefined, !/[\r\n\0]/.test(line))
      if (reply === undefined) return
      for (const [value, max] of [
        [reply.percent, 25_600],
        [reply.weight, 256],
        [reply.maxconn, 1e12],
        [haproxyWeight(reply, 256), 256],
      ] as const) {
        t.true(value === undefined || (Number.isInteger(value) && value >= 0 && value <= max))
      }
      read++
    }),
    { numRuns: 3000 },
  )
  t.true(read > 100)
})
