import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import anyTest, { type ExecutionContext } from 'ava'
import type { TlsSettings } from '../../dist/client-tls.js'
import { httpTransport } from '../../dist/poller/transports/http.js'
import { httpPoller, idOf, listening, readingOf } from './agents.js'

interface Pair {
  readonly key: string
  readonly cert: string
}

function selfSigned(name: string): Pair | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const request = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=${name}`
  try {
    execFileSync(
      'openssl',
      [
        ...request.split(' '),
        '-addext',
        `subjectAltName=${name}`.replace('=', '=DNS:'),
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    )
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } catch {
    return undefined
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const pair = selfSigned('agent.example')
const other = selfSigned('other.example')
// Certificates come from openssl; without it these are shown as skipped.
const test = pair === undefined || other === undefined ? anyTest.skip : anyTest

function serveTls(t: ExecutionContext, options: object = {}) {
  const server = createServer({ ...pair, ...options }, (_, response) =>
    response.end('{"cpu_utilization":0.4}'),
  )
  server.on('tlsClientError', () => {})
  return listening(t, server)
}

async function poll(t: ExecutionContext, id: string, tls?: TlsSettings) {
  const transport = httpTransport({ protocol: 'https', ...(tls === undefined ? {} : { tls }) })
  const { table, poller } = httpPoller(t, { transport })
  poller.setMembers([table.claim(id)])
  poller.start()
  await poller.ready
  const { stored, exit, error } = poller.counters
  return { cpu: readingOf(table, id)?.cpu, counts: [stored, exit, error] }
}

test('an agent whose certificate is trusted is read', async (t) => {
  const server = await serveTls(t)
  const tls = { ca: pair?.cert as string, servername: 'agent.example' }
  t.deepEqual(await poll(t, idOf(server), tls), { cpu: 40, counts: [1, 0, 0] })
  // The same as bytes.
  const bytes = { ...tls, ca: [Buffer.from(tls.ca)] }
  t.deepEqual(await poll(t, idOf(server), bytes), { cpu: 40, counts: [1, 0, 0] })
})

for (const [what, tls] of [
  ['that nobody trusts', undefined],
  ['that is trusted for another name', { ca: pair?.cert as string, servername: 'else.example' }],
  ['that another authority signed', { ca: other?.cert as string, servername: 'agent.example' }],
] as const) {
  test(`an agent with a certificate ${what} is an exit`, async (t) => {
    const server = await serveTls(t)
    t.deepEqual(await poll(t, idOf(server), tls), { cpu: undefined, counts: [0, 1, 0] })
  })
}

test('rejectUnauthorized: false takes any certificate', async (t) => {
  const server = await serveTls(t)
  t.deepEqual(await poll(t, idOf(server), { rejectUnauthorized: false }), { cpu: 40, counts: [1, 0, 0] })
})

test('an agent that asks for a certificate gets the one that is set', async (t) => {
  const server = await serveTls(t, { requestCert: true, ca: other?.cert })
  const trusted = { ca: pair?.cert as string, servername: 'agent.example' }
  const own = { cert: other?.cert as string, key: other?.key as string }
  t.deepEqual(await poll(t, idOf(server), { ...trusted, ...own }), { cpu: 40, counts: [1, 0, 0] })
  t.deepEqual(await poll(t, idOf(server), trusted), { cpu: undefined, counts: [0, 1, 0] })
})

test('a certificate that is none fails the node with error', async (t) => {
  const server = await serveTls(t)
  t.deepEqual(await poll(t, idOf(server), { cert: 'nonsense', key: 'nonsense' }), {
    cpu: undefined,
    counts: [0, 0, 1],
  })
})

test('asking for TLS where there is none is an exit', async (t) => {
  const { serve, reporting } = await import('./agents.js')
  t.deepEqual((await poll(t, idOf(await serve(t, reporting(1))))).counts, [0, 1, 0])
})
