import { connect } from 'node:tls'
import test from 'ava'
import { createAgent } from '../../dist/agent/index.js'
import { OptionError } from '../../dist/errors.js'
import { ask, pem, rawConnection, rawExchange, startAgent, until } from './support.js'

const tls = { key: pem('server-key'), cert: pem('server') }
const ca = pem('ca')

test('with a certificate it serves by HTTPS, and says so', async (t) => {
  const { agent } = await startAgent(t, { tls })
  t.is(agent.url, `https://127.0.0.1:${agent.port}/report`)
  t.is(
    (await ask(agent.url, { ca })).body,
    '{"cpu_utilization":0.375,"age_ms":0,"named_metrics":{"idlest_state":0}}',
  )
})

test('key and certificate may be buffers, or arrays', async (t) => {
  const { agent } = await startAgent(t, { tls: { key: Buffer.from(tls.key), cert: [Buffer.from(tls.cert)] } })
  t.is((await ask(agent.url, { ca })).status, 200)
})

test('a client that does not know the authority refuses, and harms nobody', async (t) => {
  const { agent } = await startAgent(t, { tls })
  await t.throwsAsync(ask(agent.url), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
  t.is(agent.counters.server.requests, 0)
  t.is((await ask(agent.url, { ca })).status, 200)
})

test('plain HTTP to an HTTPS agent is cut off and counted', async (t) => {
  const { agent } = await startAgent(t, { tls })
  t.notRegex(await rawExchange(agent.port, 'GET /report HTTP/1.1\r\nhost: a\r\n\r\n'), /cpu/)
  await until(() => agent.counters.server.badConnections > 0)
  t.is(agent.counters.server.badConnections, 1)
  t.is((await ask(agent.url, { ca })).status, 200)
})

test('with requestCert, clients without a good certificate get nothing', async (t) => {
  const { agent } = await startAgent(t, { tls: { ...tls, ca, requestCert: true } })
  await t.throwsAsync(ask(agent.url, { ca }))
  await t.throwsAsync(ask(agent.url, { ca, key: pem('stranger-key'), cert: pem('stranger') }))
  t.is(agent.counters.server.requests, 0)
  t.is((await ask(agent.url, { ca, key: pem('client-key'), cert: pem('client') })).status, 200)
})

test('a token is asked for over HTTPS too', async (t) => {
  const { agent } = await startAgent(t, { tls, token: 'abc' })
  t.is((await ask(agent.url, { ca })).status, 401)
  t.is((await ask(agent.url, { ca, headers: { authorization: 'Bearer abc' } })).status, 200)
})

test('a handshake that is never finished delays neither others nor close', async (t) => {
  const { agent } = await startAgent(t, { tls })
  await rawConnection(t, agent.port, '\x16\x03\x01')
  const idle = connect({ port: agent.port, host: '127.0.0.1', ca })
  idle.on('error', () => {})
  await new Promise((resolve) => idle.once('secureConnect', resolve))
  t.is((await ask(agent.url, { ca })).status, 200)
  const ended = new Promise((resolve) => idle.once('close', resolve))
  await agent.close()
  await ended
})

for (const [name, wrong] of Object.entries({
  'that do not belong together': { key: pem('client-key'), cert: tls.cert },
  'that are no PEM': { key: 'SECRET', cert: 'SECRET' },
})) {
  test(`a key and a certificate ${name} are an OptionError that shows no key`, async (t) => {
    const error = await t.throwsAsync(createAgent({ tls: wrong }), { instanceOf: OptionError })
    t.is(error?.option, 'tls')
    t.is(error?.value, '(hidden)')
    t.notRegex(error?.message ?? '', /SECRET|BEGIN/)
  })
}
