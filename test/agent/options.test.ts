import test from 'ava'
import { type AgentOptions, createAgent } from '../../dist/agent/index.js'
import { checkAgentOptions } from '../../dist/agent/options.js'
import { OptionError } from '../../dist/errors.js'

const BAD: [string, unknown, string][] = [
  ['host', '', 'host'],
  ['host', 7, 'host'],
  ['port', -1, 'port'],
  ['port', 65_536, 'port'],
  ['port', 80.5, 'port'],
  ['port', Number.NaN, 'port'],
  ['port', '80', 'port'],
  ['path', 'report', 'path'],
  ['path', '', 'path'],
  ['path', '/re port', 'path'],
  ['path', '/report?a=1', 'path'],
  ['path', '/report#a', 'path'],
  ['path', '/r\r\nx: y', 'path'],
  ['path', `/${'a'.repeat(1_024)}`, 'path'],
  ['tls', true, 'tls'],
  ['tls', {}, 'tls.key'],
  ['tls', { key: 'k' }, 'tls.cert'],
  ['tls', { key: 'k', cert: [] }, 'tls.cert'],
  ['tls', { key: 'k', cert: 'c', ca: 7 }, 'tls.ca'],
  ['tls', { key: 'k', cert: 'c', requestCert: 'yes' }, 'tls.requestCert'],
  ['sampler', 50, 'sampler'],
  ['sampler', 'cpu', 'sampler'],
  ['sampler', {}, 'sampler'],
  ['sampler', null, 'sampler'],
  ['sampleInterval', 0, 'sampleInterval'],
  ['sampleInterval', -1, 'sampleInterval'],
  ['sampleInterval', Number.NaN, 'sampleInterval'],
  ['sampleInterval', Number.POSITIVE_INFINITY, 'sampleInterval'],
  ['sampleInterval', '1000', 'sampleInterval'],
  ['sampleTimeout', 0, 'sampleTimeout'],
  ['maxConnections', 0, 'maxConnections'],
  ['unref', 1, 'unref'],
  ['clock', Date, 'clock'],
  ['clock', { now: () => 0 }, 'clock'],
]

for (const [option, value, path] of BAD) {
  const shown = typeof value === 'number' ? value : JSON.stringify(value)?.slice(0, 40)
  test(`${option} as ${typeof value} ${shown} is refused, naming ${path}`, async (t) => {
    const error = await t.throwsAsync(createAgent({ [option]: value }), { instanceOf: OptionError })
    t.is(error?.option, path)
    t.is(error?.code, 'IDLEST_BAD_OPTION')
  })
}

test('an unknown option is refused, with the nearest name', async (t) => {
  const wrong = { sampleIntervall: 5 } as AgentOptions
  const error = await t.throwsAsync(createAgent(wrong), { instanceOf: OptionError })
  t.is(error?.option, 'sampleIntervall')
  t.regex(error?.message ?? '', /nearest is "sampleInterval"/)
})

for (const token of ['', 'two words', 'naïve', 'line\nbreak', 'x'.repeat(1_025), 42, null]) {
  test(`the token ${String(token).slice(0, 20)} (${typeof token}) is refused, and not shown`, async (t) => {
    const error = await t.throwsAsync(createAgent({ token } as AgentOptions), { instanceOf: OptionError })
    t.is(error?.option, 'token')
    t.is(error?.value, '(hidden)')
    if (token) t.false(error?.message.includes(String(token)))
  })
}

for (const options of [null, 7, 'x']) {
  test(`${JSON.stringify(options)} in place of options is refused`, async (t) => {
    await t.throwsAsync(createAgent(options as AgentOptions), { instanceOf: OptionError })
  })
}

for (const [option, given] of [
  ['token', {}],
  ['token', { host: '::', token: undefined }],
  ['token', { tls: { key: 'k', cert: 'c' } }],
  ['grpc.token', { host: '127.0.0.1', grpc: { host: '0.0.0.0' } }],
  ['agentCheck.token', { host: '127.0.0.1', agentCheck: { host: '0.0.0.0' } }],
  ['agentCheck.token', { token: 'secret', agentCheck: { host: '0.0.0.0' } }],
] as [string, AgentOptions][]) {
  test(`other machines can reach it without authentication: ${option} is asked for (${JSON.stringify(given)})`, async (t) => {
    const error = await t.throwsAsync(createAgent({ host: '0.0.0.0', ...given }), { instanceOf: OptionError })
    t.is(error?.option, option)
    t.regex(
      error?.message ?? '',
      /false.*no authentication.*because other machines can reach (0\.0\.0\.0|::)$/,
    )
  })
}

test('token: false, or client certificates, allow any host', (t) => {
  for (const given of [
    { token: false },
    { token: 'secret' },
    { token: false, grpc: { host: '0.0.0.0' }, agentCheck: { host: '0.0.0.0' } },
    { token: 'secret', grpc: { host: '0.0.0.0' }, agentCheck: { host: '0.0.0.0', token: false } },
    { tls: { key: 'k', cert: 'c', ca: 'a', requestCert: true } },
    { http: false, nats: { servers: '127.0.0.1', id: 'a' } },
  ] as AgentOptions[]) {
    t.notThrows(() => checkAgentOptions({ host: '0.0.0.0', ...given }), JSON.stringify(given))
  }
})

test('an empty token is most likely a variable that is not set', (t) => {
  for (const given of [
    { token: '' },
    { grpc: { token: '' } },
    { nats: { servers: 's', id: 'a', token: '' } },
  ]) {
    t.throws(() => checkAgentOptions(given), {
      message: /token is empty: is the environment variable set\?$/,
    })
  }
})
