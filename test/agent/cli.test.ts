import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { ask, pem, startAgent, until } from './support.js'

const COMMAND = JSON.stringify(new URL('../../dist/cli/agent.js', import.meta.url))
const SCRIPT = `import { agentCommand } from ${COMMAND}; await agentCommand().parseAsync()`

interface Run {
  readonly child: ChildProcess
  stdout: string
  stderr: string
  readonly ended: Promise<number | null>
}

function start(t: ExecutionContext, args: readonly string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT, '--', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const run: Run = {
    child,
    stdout: '',
    stderr: '',
    ended: new Promise((resolve) => child.once('close', resolve)),
  }
  child.stdout.on('data', (data) => {
    run.stdout += data
  })
  child.stderr.on('data', (data) => {
    run.stderr += data
  })
  return run
}

async function startListening(
  t: ExecutionContext,
  args: readonly string[],
  env: Record<string, string> = {},
) {
  const run = start(t, args, env)
  await until(() => run.stdout.includes('\n') || run.child.exitCode !== null)
  t.is(run.stderr, '')
  return { ...run, url: /https?:\S+/.exec(run.stdout)?.[0] ?? '' }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`it prints one line with its URL, answers, and on ${signal} exits with 0`, async (t) => {
    const { url, child, ended, stdout } = await startListening(t, ['--sample-interval', '20'])
    t.regex(stdout, /^idlest agent listening on http:\/\/127\.0\.0\.1:\d+\/report \(loopback only\)\n$/)
    let answer = await ask(url)
    while (answer.status === 503) answer = await ask(url)
    t.is(answer.status, 200)
    t.deepEqual(Object.keys(JSON.parse(answer.body)), ['cpu_utilization', 'age_ms'])
    child.kill(signal)
    t.is(await ended, 0)
  })
}

for (const sampler of ['process', 'event-loop']) {
  test(`--sampler ${sampler} is served`, async (t) => {
    const { url } = await startListening(t, ['--sampler', sampler, '--sample-interval=10', '--path', '/load'])
    t.true(url.endsWith('/load'))
    let answer = await ask(url)
    while (answer.status === 503) answer = await ask(url)
    t.is(answer.status, 200)
  })
}

test('the token comes from --token or IDLEST_TOKEN, the former first', async (t) => {
  const byVariable = await startListening(t, [], { IDLEST_TOKEN: 'v1' })
  t.is((await ask(byVariable.url)).status, 401)
  t.not((await ask(byVariable.url, { headers: { authorization: 'Bearer v1' } })).status, 401)
  const byBoth = await startListening(t, ['--token', 'o1'], { IDLEST_TOKEN: 'v1' })
  t.is((await ask(byBoth.url, { headers: { authorization: 'Bearer v1' } })).status, 401)
  t.not((await ask(byBoth.url, { headers: { authorization: 'Bearer o1' } })).status, 401)
})

test('with a certificate it serves by HTTPS', async (t) => {
  const file = (name: string) => fileURLToPath(new URL(`./tls/${name}.pem`, import.meta.url))
  const { url } = await startListening(t, ['--tls-cert', file('server'), '--tls-key', file('server-key')])
  t.true(url.startsWith('https://'))
  t.true([200, 503].includes((await ask(url, { ca: pem('ca') })).status))
})

test('an address that others can reach is not called loopback', async (t) => {
  const { stdout } = await startListening(t, ['--host', '0.0.0.0'])
  t.notRegex(stdout, /loopback/)
})

for (const [args, message] of [
  [['--port', 'abc'], /--port.*abc.*number/],
  [['--port', ''], /--port.*number/],
  [['--port', '70000'], /option --port is 70000: expected a whole number from 0 to 65535/],
  [['--prot', '1'], /unknown option '--prot'/],
  [['--sampler', 'loadavg'], /loadavg.*cpu, process, event-loop/],
  [['--sample-interval', '0'], /option --sample-interval is 0/],
  [['--path', 'report'], /option --path is "report"/],
  [['--tls-cert', '/no/such/file'], /option --tls-key is undefined/],
  [['--tls-key', '/no/such/file'], /option --tls-cert is undefined/],
  [
    ['--tls-cert', '/no/such/file', '--tls-key', '/no/such/file'],
    /option --tls-cert is "\/no\/such\/file".*ENOENT/,
  ],
  [['report'], /too many arguments/],
] as const) {
  test(`${args.join(' ')}: exits with 2 and says what is wrong`, async (t) => {
    const run = start(t, args)
    t.is(await run.ended, 2)
    t.is(run.stdout, '')
    t.regex(run.stderr, message)
    t.notRegex(run.stderr, /\n\s+at /)
  })
}

test('an empty IDLEST_TOKEN is refused, rather than no token asked for', async (t) => {
  const run = start(t, [], { IDLEST_TOKEN: '' })
  t.is(await run.ended, 2)
  t.regex(run.stderr, /option --token/)
})

test('a port in use: exits with 1 and says so', async (t) => {
  const { agent } = await startAgent(t)
  const run = start(t, ['--port', String(agent.port)])
  t.is(await run.ended, 1)
  t.regex(run.stderr, new RegExp(`can't listen on 127.0.0.1, port ${agent.port}.*EADDRINUSE`))
})

test('--help exits with 0', async (t) => {
  const run = start(t, ['--help'])
  t.is(await run.ended, 0)
  t.regex(run.stdout, /--sample-interval/)
})
