import test from 'ava'
import { CommanderError } from 'commander'
import { simulateCommand } from '../../dist/cli/simulate/command.js'
import type { Result } from '../../dist/simulation/simulation.js'
import { run } from '../cli/command.js'

const wrong = [
  { args: ['--servers', '0'], says: /whole number of servers from 1 to 10000/ },
  { args: ['--load', 'much'], says: /'much' is invalid. Expected a number of percent/ },
  { args: ['--load', ''], says: /number of percent/ },
  { args: ['--service', '0'], says: /number of ms from 0.001/ },
  { args: ['--report-interval', '-1'], says: /number of ms from 0/ },
  { args: ['--balancers', '1.5'], says: /whole number of balancers/ },
  { args: ['--requests', 'Infinity'], says: /whole number of requests/ },
  {
    args: ['--policy', 'random,fastest'],
    says: /'random,fastest' is invalid. Expected some of adaptive, round-robin, /,
  },
  { args: ['--policy'], says: /argument missing/ },
  { args: ['--slow-node', '100'], says: /percent from 0 to 99/ },
  {
    args: ['--slow-node', '50', '--slow-nodes', '9'],
    says: /option --slow-nodes is 9: expected at most --servers, 8/,
  },
  { args: ['--seed', '-1'], says: /whole number from 0 to 9007199254740991/ },
  { args: ['--engine', 'rust'], says: /Allowed choices are auto, native, portable/ },
  { args: ['--polices', 'random'], says: /unknown option '--polices'[\s\S]*--policy/ },
  { args: ['8', '9'], says: /too many arguments/ },
] as const

for (const { args, says } of wrong) {
  test(`idlest simulate ${args.join(' ')}: says what is wrong`, async (t) => {
    let said = ''
    const command = simulateCommand()
      .exitOverride((error) => {
        throw error
      })
      .configureOutput({
        writeErr: (text) => {
          said += text
        },
      })
    await t.throwsAsync(command.parseAsync(args, { from: 'user' }), { instanceOf: CommanderError })
    t.regex(said, says)
  })
}

for (const args of [['--servers', '0'], ['--slow-node', '50', '--slow-nodes', '9'], ['--polices']]) {
  test(`idlest simulate ${args.join(' ')}: exits with 2 and prints no result`, async (t) => {
    const { code, stdout, stderr } = await run('simulate', ...args)
    t.is(code, 2)
    t.is(stdout, '')
    t.regex(stderr, /^error: /)
  })
}

test('it prints a table of response times and one of servers, and says nothing else but how far it is', async (t) => {
  const { code, stdout, stderr } = await run(
    'simulate',
    '--requests',
    '3000',
    '--servers',
    '3',
    '--slow-node',
    '40',
  )
  t.is(code, 0)
  t.regex(stderr, /^(?:[a-z-]+: \d+ %\n)*$/)
  t.regex(stdout, /^3 servers, 1 balancer, 3,000 requests of 10 ms each \(exponential\) at 70 % load, /)
  for (const policy of ['adaptive', 'round-robin', 'random', 'least-cpu', 'lowest-cpu']) {
    // Nothing failed and nothing was left open, so there are no columns for these.
    t.regex(stdout, new RegExp(`│ ${policy} +│ .*(?: m?s|never settles) │ +[\\d.]+ % │\\n`))
  }
  t.regex(stdout, /│ server-3 +│ [^│]+│ 33\.[34] % \/ /)
  t.notRegex(stdout, /NaN|undefined/)
})

test('many servers are not listed one by one', async (t) => {
  const { stdout } = await run('simulate', '--requests', '1000', '--servers', '50', '--policy', 'random')
  t.notRegex(stdout, /server-/)
})

test('--json prints one document: the scene and a result for each policy named, once and in order', async (t) => {
  const args = ['--requests', '2000', '--balancers', '4', '--delay', '1', '--seed', '7', '--json']
  const { code, stdout } = await run(
    'simulate',
    ...args,
    '--policy',
    'random,round-robin',
    'least-cpu',
    '--policy',
    'random',
  )
  t.is(code, 0)
  const { scene, results } = JSON.parse(stdout) as { scene: Record<string, unknown>; results: Result[] }
  t.like(scene, { balancers: 4, delay: 1, requests: 2_000, arrivals: { kind: 'poisson', rate: 560 } })
  t.deepEqual(
    results.map(({ policy }) => policy),
    ['random', 'round-robin', 'least-cpu'],
  )
  t.is(new Set(results.map(({ workload }) => workload)).size, 1)
  for (const result of results) {
    t.is(result.seed, 7)
    t.is(result.requests.completed, 2_000)
    t.is(result.nodes.length, 8)
    // Two ways of 1 ms.
    t.true(result.response.p50 > 2 && result.response.p999 >= result.response.p99)
  }
  t.is((await run('simulate', ...args, '--policy', 'random,round-robin,least-cpu')).stdout, stdout)
})

test('--engine decides what makes the picks, and changes none', async (t) => {
  const args = [
    'simulate',
    '--requests',
    '2000',
    '--policy',
    'least-cpu',
    '--report-interval',
    '100',
    '--json',
  ]
  const results = await Promise.all(
    ['portable', 'auto'].map(async (engine) => {
      const { stdout } = await run(...args, '--engine', engine)
      return (JSON.parse(stdout) as { results: Result[] }).results[0] as Result
    }),
  )
  t.is(results[0]?.engine, 'portable')
  t.deepEqual(results[0]?.response, results[1]?.response)
})
