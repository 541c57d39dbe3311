import test from 'ava'
import fc from 'fast-check'
import { readScenario } from '../../dist/scenario/read.js'

function problems(text: string): string[] {
  const read = readScenario(text)
  if (!('problems' in read)) return []
  return read.problems.map(({ line, column, message }) => `${line}:${column}: ${message}`)
}

const wrong = [
  {
    what: 'a name that stands twice, once',
    text: 'seed: 1\nservers: [{ cores: 1, cores: 2 }]\n',
    says: ['2:23: Map keys must be unique'],
  },
  {
    what: 'a number beyond all, once',
    text: `requests: 1${'0'.repeat(400)}`,
    says: [/^1:11: requests is Infinity/],
  },
  { what: 'lists in lists in lists', text: '['.repeat(20_000), says: [/^1:\d+: this is nested too deep$/] },
  {
    what: 'reports without a pause',
    text: 'reportInterval: 1e-300',
    says: [/^1:17: .*0 for no reports, or a time of at least 0.1 ms$/],
  },
  {
    what: 'more balancers and servers than have room',
    text: 'servers: 10000\nbalancers: 10000\n',
    says: [/^2:12: balancers is 10000: expected at most 1000000 pairs/],
  },
  {
    what: 'so few requests that there would be reports for ever',
    text: 'arrivals: { rate: 0.000001 }\nreportInterval: 5s\n',
    says: [/^2:17: reportInterval is 5000: expected at most 1000000000 reports/],
  },
  {
    what: 'an unknown name, at the name',
    text: 'servers: 3\nbalancer: 2\n',
    says: ['2:1: balancer is unknown: expected a known option; the nearest is "balancers"'],
  },
  {
    what: 'a value out of range, at the value',
    text: 'servers:\n  - cores: 2\n  - cores: 0\n',
    says: ['3:12: servers.1.cores is 0: expected a whole number from 1 to 1024'],
  },
  {
    what: 'a time without a unit that is known',
    text: 'delay: 5 parsecs',
    says: [/^1:8: delay is "5 parsecs": expected a time from 0 ms to 24 days, .* such as 250ms, 5s or 2min$/],
  },
  {
    what: 'a percentage beyond 100',
    text: 'servers: [{ background: 120% }]',
    says: [/^1:25: servers.0.background is "120%": expected a percentage from 0 to 100/],
  },
  {
    what: 'a value that is left out',
    text: 'timeout:\nseed: 1\n',
    says: [/^1:9: timeout is null: expected a time/],
  },
  {
    what: 'JSON, by its lines too',
    text: '{\n\t"servers": 4,\n\t"seed": -1\n}',
    says: ['3:10: seed is -1: expected a whole number of at least 0'],
  },
  {
    what: 'two kinds of arrivals',
    text: 'arrivals: { load: 70, rate: 5 }',
    says: [/one of load, rate and replay/],
  },
  { what: 'none', text: 'arrivals: {}', says: [/^1:11: .*one of load, rate and replay/] },
  {
    what: 'a field of a log where there is none',
    text: 'arrivals:\n  load: 70\n  field: ts\n',
    says: [/^2:3: .*field and speed with replay alone/],
  },
  {
    what: 'two kinds of service',
    text: 'service: { mean: 1, constant: 1 }',
    says: [/one of mean, constant and/],
  },
  { what: 'no service times', text: 'service: { times: [] }', says: [/^1:19: .*at least one time/] },
  { what: 'no servers', text: 'servers: []', says: [/^1:10: .*at least one server/] },
  {
    what: 'too many servers in all',
    text: 'servers:\n  - count: 9000\n  - count: 9000\n',
    says: [/^2:3: servers is 18000: expected at most 10000 servers in all/],
  },
  {
    what: 'a name that two servers have',
    text: 'servers:\n  - name: a\n  - name: b\n  - name: a\n',
    says: ['4:11: servers.2.name is "a": expected a name that no other server has'],
  },
  {
    what: 'a server that is called all',
    text: 'servers: [{ name: all }]',
    says: [/^1:19: servers.0.name is "all": expected a name that is not empty, nor all/],
  },
  {
    what: 'a policy that does not exist',
    text: 'policies:\n  - adaptive\n  - adaptve\n',
    says: [/^3:5: policies.1 is "adaptve": expected one of "adaptive", "round-robin"/],
  },
  {
    what: "an unknown option of a policy's algorithm, at its name",
    text: 'policies:\n  - algorithm: leastCpu\n    options:\n      treshold: 5\n',
    says: [/^4:7: policies.0.options.treshold is unknown: .*nearest is "threshold"/],
  },
  {
    what: 'an option of it that is out of range',
    text: 'policies: [{ algorithm: leastCpu, options: { threshold: 500 } }]',
    says: [
      /^1:57: policies.0.options.threshold is 500: expected a number of percentage points from 0 to 100/,
    ],
  },
  {
    what: 'an option that it needs',
    text: 'policies:\n  - algorithm: powerOfTwo\n',
    says: [/^2:5: policies.0.options.metric is undefined: expected a value for "metric"/],
  },
  {
    what: 'policies that could not be told apart',
    text: 'policies: [random, random]',
    says: [/^1:20: policies.1 is "random": expected a policy of another name/],
  },
  {
    what: 'weights of a server that does not exist',
    text: 'servers: [{ name: big }, { name: small }]\npolicies:\n  - algorithm: random\n    options: { weights: { bgi: 2 } }\n',
    says: [
      /^4:32: policies.0.options.weights.bgi is "bgi": expected the name of a server; the nearest is "big"/,
    ],
  },
  {
    what: 'a change of a server that does not exist, by name',
    text: 'servers: [{ name: big }]\nchanges:\n  - at: 1s\n    server: bgi\n    speed: 2\n',
    says: ['4:13: changes.0.server.0 is "bgi": expected the name of a server; the nearest is "big"'],
  },
  {
    what: 'by number, in a list',
    text: 'servers: 2\nchanges: [{ at: 1s, server: [1, 3], state: gone }]',
    says: [/^2:33: changes.0.server.1 is 3: expected a server's number from 1 to 2/],
  },
  {
    what: 'a change of nothing',
    text: 'changes: [{ at: 1s, server: 1 }]',
    says: [/^1:11: changes.0 is an object: expected a change of speed, background or state/],
  },
  {
    what: 'both a number of requests and a duration',
    text: 'requests: 5\nduration: 1s',
    says: [/^2:11: duration is 1000: expected either requests or duration/],
  },
  {
    what: 'a load on servers that can do nothing',
    text: 'servers: [{ background: 100 }]\narrivals: { load: 50 }',
    says: [/^2:19: arrivals.load is 50: expected a rate/],
  },
  {
    what: 'a duration of more requests than there can be',
    text: 'arrivals: { rate: 1000000 }\nduration: 1h',
    says: [/^2:11: duration is 3600000: expected at most 100000000 requests/],
  },
  { what: 'an empty file', text: '', says: ['1:1: the scenario is null: expected an object of options'] },
  {
    what: 'a list',
    text: '# servers\n- 1\n',
    says: ['2:1: the scenario is an array of 1: expected an object of options'],
  },
  {
    what: 'YAML that is none',
    text: 'servers: [1,\nseed: }',
    says: [/^2:1: Flow sequence .* must be sufficiently indented/],
  },
  { what: 'a name twice', text: 'seed: 1\nseed: 2\n', says: [/^2:1: Map keys must be unique/] },
  {
    what: 'two documents',
    text: 'seed: 1\n---\nseed: 2\n',
    says: [/^2:1: a second document begins/],
  },
] as const

for (const { what, text, says } of wrong) {
  test(`it is told: ${what}`, (t) => {
    const told = problems(text)
    for (const [i, said] of says.entries()) {
      if (typeof said === 'string') t.is(told[i], said)
      else t.regex(told[i] ?? '', said)
    }
  })
}

test('all that is wrong is told at once, from the top', (t) => {
  const told = problems(`servers:
  - count: 0
    coers: 2
arrivals: { rate: -1 }
policies:
  - fastest
  - algorithm: leastCpu
    options: { treshold: 5 }
changes:
  - at: soon
    server: 1
    state: broken
service: slow
`)
  t.deepEqual(
    told.map((line) => line.split(': ', 1)[0]),
    ['2:12', '3:5', '4:19', '6:5', '8:16', '10:9', '12:12', '13:10'],
  )
})

test('what an alias stands for is found where it is written', (t) => {
  const text = 'servers:\n  - &big { cores: 0 }\n  - *big\n'
  t.deepEqual(
    problems(text).map((line) => line.split(': ', 1)[0]),
    ['2:19', '2:19'],
  )
})

test('aliases of aliases that would fill the memory are refused', (t) => {
  const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i}, `.repeat(9)}]`)
  t.regex(problems(['l0: &l0 [x]', ...levels].join('\n'))[0] ?? '', /^1:1: Excessive alias count/)
})

const names = [
  'servers',
  'policies',
  'arrivals',
  'service',
  'changes',
  'seed',
  'name',
  'load',
  'count',
  'options',
]
const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('all', '5s', '70%', 'adaptive', 'leastCpu', null, true, 0, 1, -1, 1e99),
    fc.string(),
    fc.double(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.constant('__proto__'), fc.string()), tie('value'), {
      maxKeys: 5,
    }),
  ),
})).value

function isPlaced(text: string): boolean {
  const read = readScenario(text)
  if (!('problems' in read)) return true
  const lines = text.split('\n').length
  return read.problems.every(
    ({ line, column, message }) => line >= 1 && line <= lines && column >= 1 && message !== '',
  )
}

test('whatever a file holds, nothing is thrown, and each problem has a place in it', (t) => {
  fc.assert(
    fc.property(anything, (value) => t.true(isPlaced(JSON.stringify(value, undefined, 1)))),
    { numRuns: 1_000 },
  )
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom(...names), (text, name) => {
      t.true(isPlaced(text))
      t.true(isPlaced(`${name}: ${text}`))
    }),
    { numRuns: 500 },
  )
})

test('a scenario of very many wrong names is read in a moment', (t) => {
  const names = Array.from({ length: 20_000 }, (_, i) => `k${i}: 1\n`)
  t.deepEqual(problems(names.join('')), [
    '1:1: k0 is unknown: expected a known option; the nearest is "name"',
  ])
  t.deepEqual(problems(`${names.join('')}k7: 2\n`), [`${names.length + 1}:1: Map keys must be unique`])
})
