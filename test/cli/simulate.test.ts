import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { CommanderError } from 'commander'
import { simulateCommand } from '../../dist/cli/simulate/command.js'
import type { Result } from '../../dist/simulation/simulation.js'
import { run } from './command.js'

/** What `--json` prints. */
interface Printed {
  readonly name?: string
  readonly scene: Record<string, unknown>
  readonly log?: Record<string, unknown>
  readonly results: Result[]
}

function folder(t: ExecutionContext, files: Readonly<Record<string, string | Buffer>>): string {
  const path = mkdtempSync(join(tmpdir(), 'idlest-simulate-'))
  t.teardown(() => rmSync(path, { recursive: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content)
  return path
}

async function json(...args: string[]): Promise<Printed> {
  const { code, stdout, stderr } = await run('simulate', ...args, '--json')
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Printed
}

/** What it exits with and says where it can't be done; in this process, which is faster. */
async function refused(t: ExecutionContext, ...args: string[]): Promise<{ code: number; stderr: string }> {
  let stderr = ''
  const command = simulateCommand()
    .exitOverride((error) => {
      throw error
    })
    .configureOutput({
      writeErr: (text) => {
        stderr += text
      },
    })
  const error = await t.throwsAsync(command.parseAsync(args, { from: 'user' }), {
    instanceOf: CommanderError,
  })
  return { code: error.exitCode, stderr }
}

const SCENARIO = `
name: An old server
servers:
  - count: 3
  - { name: old, speed: 0.5 }
policies:
  - round-robin
  - algorithm: random
    name: by size
    options: { weights: { old: 0.5 } }
arrivals: { load: 60 }
duration: 30s
seed: 7
`

test('a scenario is simulated, and its servers have their names', async (t) => {
  const here = folder(t, { 'scenario.yaml': SCENARIO })
  const { code, stdout } = await run('simulate', join(here, 'scenario.yaml'))
  t.is(code, 0)
  t.regex(
    stdout,
    /^An old server\n4 servers, 1 balancer, 6,300 requests of 10 ms each \(exponential\) at 60 % load, /,
  )
  t.regex(stdout, /│ by size +│/)
  t.regex(stdout, /│ old +│ +25\.0 % \/ /)
})

test('flags that are given go before what the file says', async (t) => {
  const here = folder(t, { 'scenario.yaml': SCENARIO })
  const { name, scene, results } = await json(
    join(here, 'scenario.yaml'),
    ...['--requests', '500', '--load', '20', '--policy', 'random', '--seed', '3', '--balancers', '2'],
  )
  t.is(name, 'An old server')
  t.like(scene, { requests: 500, balancers: 2, arrivals: { kind: 'poisson', rate: 70 } })
  t.deepEqual(
    results.map(({ policy, seed }) => [policy, seed]),
    [['random', 3]],
  )
  t.deepEqual(
    results[0]?.nodes.map(({ id }) => id),
    ['server-1', 'server-2', 'server-3', 'old'],
  )
})

test('all that is wrong with a file is told, in lines that editors know, and it exits with 2', async (t) => {
  const here = folder(t, { 'bad.yaml': 'servers: 0\nbalancer: 2\n', 'worse.json': '{"servers": 4,}}' })
  const path = join(here, 'bad.yaml')
  const { code, stdout, stderr } = await run('simulate', path)
  t.is(code, 2)
  t.is(stdout, '')
  t.is(
    stderr,
    `${path}:1:10: servers is 0: expected a number of servers from 1 to 10000, or a list of them\n` +
      `${path}:2:1: balancer is unknown: expected a known option; the nearest is "balancers"\n`,
  )
  const worse = await refused(t, join(here, 'worse.json'))
  t.is(worse.code, 2)
  t.regex(worse.stderr, /worse\.json:1:16: /)
})

test('flags about servers are refused beside a file, and a file that is not there exits with 1', async (t) => {
  const here = folder(t, { 'scenario.yaml': SCENARIO })
  const beside = await refused(t, join(here, 'scenario.yaml'), '--cores', '2')
  t.is(beside.code, 2)
  t.regex(beside.stderr, /option --cores is 2: expected no servers here: the file describes them/)
  const none = await refused(t, join(here, 'none.yaml'))
  t.is(none.code, 1)
  t.regex(none.stderr, /^error: can't read the scenario: ENOENT/)
})

const START = Date.UTC(2026, 0, 1)
const LOG = [
  ...Array.from({ length: 200 }, (_, i) => `{"time":${START + i * 50},"path":"/"}`),
  'not a line of a log',
  '',
  '{"path":"/"}',
].join('\n')

test('a log is replayed: bad lines are told with their numbers, and the others are used', async (t) => {
  const here = folder(t, { 'access.log': LOG })
  const path = join(here, 'access.log')
  const { code, stdout, stderr } = await run('simulate', '--replay', path, '--policy', 'random')
  t.is(code, 0)
  t.regex(
    stdout,
    /200 requests of 10 ms each \(exponential\) as in .*access\.log, over 9\.95 s: 20\.1 a second, 2\.51 % load/,
  )
  // Beside how far it is, where that takes long.
  t.true(
    stderr.includes(
      `${path}: 2 of 203 lines can't be used, and were left out:\n` +
        '  line 201: there is no [time] before a "request"\n' +
        '  line 203: it has no field for the time, such as "time" or "timestamp"\n',
    ),
  )
})

test('a scenario names a log beside it; it may be by gzip, and go by faster', async (t) => {
  const here = folder(t, {
    'access.log.gz': gzipSync(LOG),
    'scenario.yaml': 'policies: [random]\narrivals: { replay: access.log.gz, speed: 10 }\nduration: 500ms\n',
  })
  const { scene, log, results } = await json(join(here, 'scenario.yaml'))
  t.like(scene, { requests: 101, arrivals: { kind: 'replay', log: join(here, 'access.log.gz') } })
  t.like(log, { lines: 203, used: 200, blank: 1, bad: 2 })
  t.is(results[0]?.requests.completed, 101)
  t.true((results[0]?.end ?? 0) >= 500)
})

test('a log that is no use exits with 1 and says why', async (t) => {
  const here = folder(t, {
    'words.log': 'one\ntwo\n',
    'years.log': `{"time":${START}}\n{"time":971211336}\n`,
    'fields.log': '{"begun":1}\n{"begun":2}\n',
  })
  for (const [args, says] of [
    [['words.log'], /no line of .*words\.log tells when a request came[\s\S]*line 1: there is no \[time\]/],
    [['years.log'], /years\.log goes over 9,\d{3} days, from line 2 to line 1: at most 31/],
    [['none.log'], /can't read the log: ENOENT/],
    [['fields.log', '--replay-field', 'ended'], /line 1: it has no field "ended"/],
  ] as const) {
    const [file, ...more] = args
    const { code, stderr } = await refused(t, '--replay', join(here, file), ...more)
    t.is(code, 1)
    t.regex(stderr, says)
  }
  const alone = await refused(t, '--replay-speed', '2')
  t.is(alone.code, 2)
  t.regex(alone.stderr, /option --replay-speed is 2: expected an access log by --replay/)
})

test('no table is wider than 100 columns, and a policy whose queues only grow never settles', async (t) => {
  const args = ['--slow-node', '50', '--requests', '40000']
  const { code, stdout } = await run('simulate', ...args)
  t.is(code, 0)
  for (const line of stdout.match(/^[│┌├└].*$/gm) ?? []) t.true(line.length <= 100, line)
  const settles = (policy: string) =>
    !stdout.split('\n').some((line) => line.includes(`│ ${policy} `) && line.includes('never settles'))
  for (const policy of ['round-robin', 'random']) t.false(settles(policy), policy)
  for (const policy of ['adaptive', 'least-cpu', 'lowest-cpu', 'spare-capacity-raw'])
    t.true(settles(policy), policy)
  const { results } = await json(...args, '--policy', 'round-robin', 'adaptive')
  t.deepEqual(
    results.map(({ settled }) => settled),
    [false, true],
  )
})
