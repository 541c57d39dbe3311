import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { run } from './command.js'

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

function file(t: ExecutionContext, name: string, content: string | Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-files-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const SMALL = 'servers: 2\nrequests: 100\npolicies: [round-robin]\n'

test('a scenario is text in UTF-8, and says where it is not', async (t) => {
  const path = file(t, 'latin.yaml', Buffer.from(`${SMALL}name: caf\xe9\n`, 'latin1'))
  const { code, stderr } = await run('simulate', path)
  t.is(code, 2)
  t.is(stderr, `${path}:4:1: this is not text in UTF-8\n`)
})

test('a file that is longer than any scenario is not read to its end', async (t) => {
  const path = file(t, 'long.yaml', `# ${'x'.repeat(5 * 2 ** 20)}\n${SMALL}`)
  const { code, stderr } = await run('simulate', path)
  t.is(code, 2)
  t.regex(stderr, /longer than any scenario/)
})

test('texts of a scenario do no more to a terminal than be shown', async (t) => {
  const evil = '\\e[2J\\a'
  const policies = `[{ algorithm: roundRobin, name: "p${evil}" }]`
  const right = file(
    t,
    'evil.yaml',
    `name: "n${evil}"\nservers: [{ name: "s${evil}" }]\nrequests: 100\npolicies: ${policies}\n`,
  )
  const wrong = file(t, 'wrong.yaml', `${SMALL}"${evil}": 1\n`)
  for (const path of [right, wrong]) {
    const { stdout, stderr } = await run('simulate', path)
    t.notRegex(stdout.replaceAll('\n', '') + stderr.replaceAll('\n', ''), /\p{C}/u)
    t.regex(stdout + stderr, /␛\[2J␇/)
  }
})

test('a server that all but stands still does not keep a run from ending', async (t) => {
  const path = file(
    t,
    'slow.yaml',
    'servers: [{ speed: 1e-300 }]\nrequests: 10\narrivals: { rate: 10 }\npolicies: [round-robin]\nreportInterval: 1min\n',
  )
  const { code, stdout } = await run('simulate', path, '--json')
  t.is(code, 0)
  const [{ requests }] = (JSON.parse(stdout) as { results: [{ requests: { inSystem: number } }] }).results
  t.is(requests.inSystem, 10)
})

test('a report that can not be written is told before anything is simulated', async (t) => {
  const path = file(t, 'small.yaml', SMALL)
  const { code, stdout, stderr } = await run('simulate', path, '--html', join(path, 'report.html'))
  t.is(code, 1)
  t.is(stdout, '')
  t.regex(stderr, /^error: can't write the report: /)
})

test('a log whose compression breaks off is used up to there, and where that is is told', async (t) => {
  const line = (second: number) =>
    `1.2.3.4 - - [10/Oct/2000:13:55:${second % 60} -0700] "GET / HTTP/1.1" 200 12\n`.replace(
      /:(\d) /,
      ':0$1 ',
    )
  const whole = gzipSync(Array.from({ length: 1_000 }, (_, i) => line(i)).join(''), { level: 0 })
  const path = file(t, 'log.gz', whole.subarray(0, whole.length - 8))
  const { code, stdout, stderr } = await run('simulate', '--replay', path, '--policy', 'random', '--json')
  t.is(code, 0)
  t.true(
    stderr.includes(
      `${path}: 1 of 1,001 lines can't be used, and was left out:\n` +
        '  line 1001: the compression breaks off here: unexpected end of file\n',
    ),
    stderr,
  )
  t.true(stdout.length > 0)
})

test('a log of which nothing can be unpacked is an error that tells why', async (t) => {
  const path = file(t, 'log.gz', gzipSync('x').subarray(0, 12))
  const { code, stderr } = await run('simulate', '--replay', path)
  t.is(code, 1)
  t.regex(stderr, /no line of .* tells when a request came.*line 1: the compression breaks off here/s)
})

for (const command of ['simulate --requests 1000 --policy random --json', 'size --json']) {
  test(`idlest ${command.split(' ')[0]} ends without a word where nobody reads`, async (t) => {
    if (!existsSync('/bin/sh')) {
      t.is(process.platform, 'win32')
      return
    }
    const shell = `{ "${process.execPath}" "${PROGRAM}" ${command}; echo "code $?" >&2; } | true`
    const { NODE_OPTIONS: _, ...env } = process.env
    const stderr = await new Promise<string>((resolve) => {
      execFile('/bin/sh', ['-c', shell], { env }, (_error, _stdout, stderr) => resolve(stderr))
    })
    t.is(stderr, 'code 141\n')
  })
}
