import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { arrivalsOf } from '../../dist/access-log/arrivals.js'
import { readAccessLog } from '../../dist/access-log/read.js'

function folder(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'idlest-log-'))
  t.teardown(() => rmSync(path, { recursive: true }))
  return path
}

const START = Date.UTC(2026, 0, 1)

test('arrivals begin with the first request of the log, in order of time', (t) => {
  const times = Float64Array.of(START + 900, START + 250, START + 500)
  t.deepEqual([...arrivalsOf(times, { seed: 1 })], [0, 250, 650])
  t.deepEqual([...arrivalsOf(times, { seed: 1, speed: 10 })], [0, 25, 65])
  t.is(times[0], START + 900)
})

test('a log with whole seconds alone has its requests spread over them, by the seed', (t) => {
  const times = Float64Array.from({ length: 4_000 }, (_, i) => START + Math.floor(i / 1_000) * 1_000)
  const arrivals = arrivalsOf(times, { seed: 1 })
  const inQuarter = new Array<number>(16).fill(0)
  for (const time of arrivals) {
    const quarter = Math.min(15, Math.floor(time / 250))
    inQuarter[quarter] = (inQuarter[quarter] as number) + 1
  }
  // 250 each, plus or minus four standard deviations.
  t.true(inQuarter.every((count) => Math.abs(count - 250) < 60))
  t.true(arrivals.every((time, i) => i === 0 || time >= (arrivals[i - 1] as number)))
  t.deepEqual(arrivalsOf(times.slice().reverse(), { seed: 1 }), arrivals)
  t.notDeepEqual(arrivalsOf(times, { seed: 2 }), arrivals)
})

test('a log without requests has no arrivals', (t) => {
  t.is(arrivalsOf(new Float64Array(0), { seed: 1 }).length, 0)
})

const lines = Array.from({ length: 2_000 }, (_, i) => `{"time":${START + i},"path":"/ä/${i}"}`).join('\n')

for (const [what, content] of [
  ['a file', Buffer.from(lines)],
  ['a file of gzip, whatever its name', gzipSync(lines)],
] as const) {
  test(`${what} is read whole`, async (t) => {
    const path = join(folder(t), 'access.log')
    writeFileSync(path, content)
    let bytes = 0
    const log = await readAccessLog(path, {
      onProgress: (read) => {
        bytes = read
      },
    })
    t.deepEqual(log.counts, { lines: 2_000, used: 2_000, blank: 0, bad: 0 })
    t.is(bytes, content.length)
  })
}

test('an empty file has no lines, and one that is not there rejects', async (t) => {
  const here = folder(t)
  writeFileSync(join(here, 'empty'), '')
  t.is((await readAccessLog(join(here, 'empty'))).counts.lines, 0)
  await t.throwsAsync(readAccessLog(join(here, 'none')), { code: 'ENOENT' })
})

const whole = gzipSync(`${lines}\n`, { level: 0 })
const broken = Buffer.from(whole)
broken.writeUInt32LE(0, whole.length - 8)

const breaks: readonly (readonly [what: string, content: Buffer, used: number | undefined, why: RegExp])[] = [
  ['is cut short', gzipSync(lines).subarray(0, 200), undefined, /unexpected end of file/],
  ['lacks its end', whole.subarray(0, whole.length - 8), 2_000, /unexpected end of file/],
  ['has a wrong sum', broken, undefined, /incorrect data check/],
  ['is nothing but a start', gzipSync(lines).subarray(0, 12), 0, /unexpected end of file/],
]

for (const [what, content, expected, why] of breaks) {
  test(`of a file of gzip that ${what} the lines before are used, and the one where it breaks off is bad`, async (t) => {
    const path = join(folder(t), 'access.log.gz')
    writeFileSync(path, content)
    const { counts, bad, times } = await readAccessLog(path)
    const used = expected ?? counts.used
    t.deepEqual(counts, { lines: used + 1, used, blank: 0, bad: 1 })
    t.is(times.length, used)
    t.is(expected === 0, used === 0)
    t.is(bad[0]?.line, used + 1)
    t.regex(bad[0]?.why ?? '', /^the compression breaks off here: /)
    t.regex(bad[0]?.why ?? '', why)
  })
}
