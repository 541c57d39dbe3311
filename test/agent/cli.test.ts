import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { readOrcaJson } from '../../dist/reports/orca-json.js'
import { moduleFile } from '../support/module-file.js'
import { ask, pem, rawExchange, startAgent, until } from './support.js'

const COMMAND = JSON.stringify(new URL('../../dist/cli/agent.js', import.meta.url))
const SCRIPT = `import { agentCommand } from ${COMMAND}; await agentCommand().parseAsync()`

interface Run {
  readonly child: ChildProcess
  stdout: string
  stderr: string
  readonly ended: Promise<number | null>
}

function start(t: ExecutionContext, args: readonly string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [moduleFile(t, SCRIPT), ...args], {
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

function pemFile(name: string): string {
  return fileURLToPath(new URL(`./tls/${name}.pem`, import.meta.url))
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`it prints one line with its URL, answers, and on ${signal} exits with 0`, async (t) => {
    const { url, child, ended, stdout } = await startListening(t, ['--sample-interval=20', '--drain-wait=0'])
    t.regex(stdout, /^idlest agent listening on http:\/\/127\.0\.0\.1:\d+\/report \(loopback only\)\n$/)
    let answer = await ask(url)
    while (answer.status === 503) answer = await ask(url)
    t.is(answer.status, 200)
    const report = readOrcaJson(answer.body)
    t.is(report.state, 'up')
    t.true(Number.isFinite(report.cpu) && Number.isFinite(report.age))
    t.is(report.application, undefined, 'its own event loop says nothing of the machine')
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
  const { url } = await startListening(t, [
    '--tls-cert',
    pemFile('server'),
    '--tls-key',
    pemFile('server-key'),
  ])
  t.true(url.startsWith('https://'))
  t.true([200, 503].includes((await ask(url, { ca: pem('ca') })).status))
})

test('it says so where other machines can ask without a token', async (t) => {
  const { stdout } = await startListening(t, ['--host', '0.0.0.0', '--no-token'])
  t.regex(stdout, /^idlest agent listening on \S+ \(warning: open to other machines, without a token\)\n$/)
  const guarded = await startListening(t, ['--host', '0.0.0.0', '--token', 'a'])
  t.regex(guarded.stdout, /^idlest agent listening on \S+\n$/)
})

test('agent checks are answered where it says, on loopback whatever --host is', async (t) => {
  const { stdout } = await startListening(t, ['--host=0.0.0.0', '--token=a', '--agent-check-port=0'])
  const [, port = ''] =
    /^idlest agent answering agent checks on 127\.0\.0\.1:(\d+) \(loopback only\)$/m.exec(stdout) ?? []
  t.regex(await rawExchange(Number(port), ''), /^ready up( \d+%)?\n$/)
  const args = [
    '--no-http',
    '--agent-check-port=0',
    '--agent-check-host=0.0.0.0',
    '--no-agent-check-token',
    '--max-in-flight=9',
  ]
  const alone = await startListening(t, args)
  const [, open = ''] =
    /^idlest agent answering agent checks on 0\.0\.0\.0:(\d+) \(warning: .*\)\n$/.exec(alone.stdout) ?? []
  t.regex(await rawExchange(Number(open), ''), /^ready up( \d+%)? maxconn:9\n$/)
})

test('after a signal it says that it drains, goes on answering, and ends at the second signal', async (t) => {
  const run = await startListening(t, ['--agent-check-port=0', '--drain-wait=100000000', '--no-metrics'])
  const port = Number(/checks on \S+:(\d+)/.exec(run.stdout)?.[1])
  t.is((await ask(run.url.replace('/report', '/metrics'))).status, 404)
  run.child.kill('SIGTERM')
  while (!(await rawExchange(port, '')).startsWith('drain')) await until(() => true)
  const { status, body } = await ask(run.url)
  t.is(status, 200)
  t.is(JSON.parse(body).named_metrics.idlest_state, 1)
  t.is(run.child.exitCode, null)
  run.child.kill('SIGINT')
  t.is(await run.ended, 0)
})

test('it tells reports by gRPC and NATS where it is asked to, and says so', async (t) => {
  const args = ['--no-http', '--grpc-port=0', '--nats=127.0.0.1:1', '--nats-id=10.0.0.1:80', '--drain-wait=0']
  // Nobody is at that port, and it goes on trying.
  const run = start(t, args)
  await until(() => run.stdout.includes('\n') || run.child.exitCode !== null)
  t.regex(run.stdout, /^idlest agent listening for gRPC on 127\.0\.0\.1:\d+ \(loopback only\)\n/)
  t.regex(
    run.stdout,
    /\nidlest agent publishing on NATS at 127\.0\.0\.1:1: idlest\.report\.10%2E0%2E0%2E1%3A80\n$/,
  )
  run.child.kill('SIGTERM')
  t.is(await run.ended, 0)
})

test('when the time to drain is over it ends by itself', async (t) => {
  const run = await startListening(t, ['--drain-wait=50'])
  run.child.kill('SIGTERM')
  t.is(await run.ended, 0)
})

test('with --tls-client-ca only those with a certificate by it are answered', async (t) => {
  const args = ['--tls-cert', 'server', '--tls-key', 'server-key', '--tls-client-ca', 'ca']
  const { url } = await startListening(
    t,
    args.map((arg) => (arg.startsWith('--') ? arg : pemFile(arg))),
  )
  await t.throwsAsync(ask(url, { ca: pem('ca') }))
  const answer = await ask(url, { ca: pem('ca'), key: pem('client-key'), cert: pem('client') })
  t.true([200, 503].includes(answer.status))
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
  [['--tls-client-ca', '/no/such/file'], /option --tls-cert is undefined/],
  [['--agent-check-port', '70000'], /option --agent-check-port is 70000/],
  [['--agent-check-host', '10.0.0.1'], /option --agent-check-port is undefined/],
  [['--no-http'], /--no-http/],
  [['--grpc-port', '-1'], /option --grpc-port is -1/],
  [['--nats', 'a:1'], /option --nats-id is undefined/],
  [['--nats-id', 'a'], /option --nats is undefined/],
  [['--nats', 'a b', '--nats-id', 'a'], /option --nats is "a b"/],
  [['--nats', 'a', '--nats-id', 'a', '--nats-subject', '>'], /option --nats-subject is ">"/],
  [['--metrics', '/report'], /option --metrics is "\/report"/],
  [['--weight', '25601'], /option --weight is 25601/],
  [['--max-in-flight', '-1'], /option --max-in-flight is -1/],
  [['--drain-wait', '-1'], /--drain-wait/],
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
