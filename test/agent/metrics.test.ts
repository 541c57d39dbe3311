import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { createAgent } from '../../dist/agent/index.js'
import { writeMetrics } from '../../dist/agent/metrics.js'
import { OptionError } from '../../dist/errors.js'
import { ask, startAgent } from './support.js'

const SERIES = /^([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)$/

/**
 * Reads Prometheus text and holds it against the rules of the format and of its linter: each family is announced once by
 * HELP and TYPE, its series follow, no series stands twice, counters end with _total, and units are base units.
 */
function readStrictly(t: ExecutionContext, text: string): Map<string, number> {
  t.true(text.endsWith('\n'))
  const series = new Map<string, number>()
  const families = new Set<string>()
  let family = ''
  const lines = text.slice(0, -1).split('\n')
  for (const [i, line] of lines.entries()) {
    const [, help, about] = /^# HELP (\S+) (\S.*)$/.exec(line) ?? []
    const [, typed, type] = /^# TYPE (\S+) (gauge|counter)$/.exec(line) ?? []
    if (help !== undefined) {
      t.false(families.has(help), `${help} stands once`)
      families.add(help)
      family = help
      t.regex(about ?? '', /\.$/)
      t.true(lines[i + 1]?.startsWith(`# TYPE ${help} `))
    } else if (typed !== undefined) {
      t.is(typed, family)
      t.is(type === 'counter', typed.endsWith('_total'))
      t.notRegex(typed, /percent|_ms$|milli/)
      t.true(lines[i + 1]?.startsWith(typed), `${typed} has a series`)
    } else {
      const [, name = '', labels = '', value = ''] = SERIES.exec(line) ?? []
      t.is(name, family, line)
      t.regex(name, /^idlest_agent_[a-z_]+$/)
      t.true(Number.isFinite(Number(value)), line)
      const key = labels === '' ? name : `${name}{${labels}}`
      t.false(series.has(key), `${key} stands once`)
      series.set(key, Number(value))
    }
  }
  return series
}

test('/metrics has all that is reported, in base units, and the counters of each part', async (t) => {
  const { agent, clock } = await startAgent(t, {
    named: { jobs: 7, '"\\': -1 },
    weight: 30,
    maxInFlight: 5,
    agentCheck: {},
    sampleInterval: 10_000,
  })
  await clock.advance(2_500)
  const { origin } = new URL(agent.url)
  await ask(agent.url)
  const { status, headers, body } = await ask(`${origin}/metrics`)
  t.is(status, 200)
  t.is(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  const series = readStrictly(t, body)
  for (const [name, value] of [
    ['cpu_ratio', 0.375],
    ['weight_ratio', 0.3],
    ['max_in_flight', 5],
    ['report_age_seconds', 2.5],
    ['named_metric{name="jobs"}', 7],
    ['named_metric{name="\\"\\\\"}', -1],
    ['state{state="up"}', 1],
    ['state{state="drain"}', 0],
    ['events_total{part="http",event="requests"}', 2],
    ['events_total{part="http",event="answered"}', 1],
    ['events_total{part="http",event="scraped"}', 1],
    ['events_total{part="agentCheck",event="answered"}', 0],
    ['events_total{part="sampling",event="values"}', 1],
    ['events_total{part="named",event="bad"}', 0],
  ] as const) {
    t.is(series.get(`idlest_agent_${name}`), value, name)
  }
  agent.maint()
  const after = readStrictly(t, (await ask(`${origin}/metrics`)).body)
  t.is(after.get('idlest_agent_state{state="maint"}'), 1)
  t.is(after.get('idlest_agent_state{state="up"}'), 0)
})

test('before the first sample there are metrics too, but no load', async (t) => {
  const { agent } = await startAgent(t, { sampler: () => undefined })
  const { status, body } = await ask(agent.url.replace('/report', '/metrics'))
  t.is(status, 200)
  const series = readStrictly(t, body)
  t.is(series.get('idlest_agent_cpu_ratio'), undefined)
  t.is(series.get('idlest_agent_state{state="up"}'), 1)
  t.is(series.get('idlest_agent_events_total{part="sampling",event="none"}'), 1)
})

test('metrics ask for the token too', async (t) => {
  const { agent } = await startAgent(t, { token: 'abc' })
  const url = agent.url.replace('/report', '/metrics')
  t.is((await ask(url)).status, 401)
  t.is((await ask(url, { headers: { authorization: 'Bearer abc' } })).status, 200)
})

test('metrics can be elsewhere, or nowhere', async (t) => {
  const elsewhere = await startAgent(t, { metrics: '/prometheus' })
  const { origin } = new URL(elsewhere.agent.url)
  t.is((await ask(`${origin}/prometheus`)).status, 200)
  t.is((await ask(`${origin}/metrics`)).status, 404)
  for (const options of [{ metrics: false }, { metrics: false, path: '/report' }]) {
    const { agent } = await startAgent(t, options)
    t.is((await ask(agent.url.replace('/report', '/metrics'))).status, 404)
  }
  const { agent } = await startAgent(t, { path: '/metrics' })
  t.is((await ask(agent.url)).headers['content-type'], 'application/json')
})

for (const metrics of ['metrics', '', '/a b', 7, null, '/report']) {
  test(`metrics: ${JSON.stringify(metrics)} is refused`, async (t) => {
    const error = await t.throwsAsync(createAgent({ metrics: metrics as string }), {
      instanceOf: OptionError,
    })
    t.is(error?.option, 'metrics')
    t.regex(error?.message ?? '', /path/)
  })
}

test('whatever metrics are called, the text is well formed', (t) => {
  const named = fc.dictionary(
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  )
  fc.assert(
    fc.property(named, (metrics) => {
      const series = readStrictly(t, writeMetrics({ named: metrics }, 'up', {}))
      t.is(series.size, 4 + Object.keys(metrics).length)
    }),
    { numRuns: 200 },
  )
})
