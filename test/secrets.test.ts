import { inspect } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { createAgent } from '../dist/agent/index.js'
import { IdlestError, reasonOf } from '../dist/errors.js'
import {
  agentCheckTransport,
  createBalancer,
  httpTransport,
  natsTransport,
  nodeExporterTransport,
  orcaTransport,
} from '../dist/index.js'

const SECRET = 'S3same'
const PEM = `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----`
const tls = { key: PEM, cert: PEM, ca: PEM }

function everyForm(value: unknown): string[] {
  return [
    inspect(value, { depth: 9 }),
    inspect(value, { depth: 9, showHidden: true }),
    inspect({ value }, { depth: 9 }),
    inspect({ ...(value as object) }, { depth: 9, showHidden: true }),
    JSON.stringify(value) ?? '',
    JSON.stringify({ ...(value as object) }),
    String(value),
  ]
}

function showsNothing(t: ExecutionContext, value: unknown): void {
  for (const form of everyForm(value)) t.notRegex(form, /S3same/)
}

/** Options come from plain JavaScript too, in which anything may be wrong. */
type Loose = (options: unknown) => unknown

const withPort: Loose = (options) =>
  agentCheckTransport((typeof options === 'object' ? { port: 1, ...options } : options) as never)

const makers: Record<string, Loose> = {
  httpTransport: httpTransport as Loose,
  nodeExporterTransport: nodeExporterTransport as Loose,
  orcaTransport: orcaTransport as Loose,
  natsTransport: natsTransport as Loose,
  agentCheckTransport: withPort,
  createBalancer: createBalancer as Loose,
  createAgent: createAgent as Loose,
}

const wrong: Record<string, unknown> = {
  'a misspelt name': { tokn: SECRET },
  'a name of HTTP': { authorization: `Bearer ${SECRET}` },
  'a passphrase': { passphrase: SECRET },
  'an unknown object': { auth: { token: SECRET } },
  'a misspelt name in tls': { tls: { kye: PEM } },
  'a key that is none': { tls: { key: { pem: SECRET } } },
  'a key in the place of tls': { tls: PEM },
  'a token in the place of the options': SECRET,
  'a token that can not be sent': { token: `${SECRET} ${SECRET}` },
  'a URL in the place of a name': { [`https://me:${SECRET}@example.net/`]: 1 },
  'a URL with credentials': { path: `https://me:${SECRET}@example.net/` },
  'a URL with a token': { path: `https://example.net/?access_token=${SECRET}` },
  'servers with credentials': { servers: `me:${SECRET}@nats.example` },
  'one of several servers with credentials': { servers: ['a', `nats://me:${SECRET}@b`] },
  'a transport that is a token': { poll: { transport: SECRET } },
  'an object for a text': { path: { token: SECRET } },
  'an object for a host': { host: { token: SECRET } },
}

for (const [maker, make] of Object.entries(makers)) {
  for (const [what, options] of Object.entries(wrong)) {
    test(`${maker} does not show ${what}`, async (t) => {
      const error = await (async () => make(options))().then(
        () => undefined,
        (reason: unknown) => reason,
      )
      t.true(error instanceof IdlestError)
      showsNothing(t, error)
      t.notRegex((error as IdlestError).stack ?? '', /S3same/)
    })
  }
}

const transports = {
  httpTransport: httpTransport({ token: SECRET, tls, node: () => ({ token: SECRET }) }),
  nodeExporterTransport: nodeExporterTransport({ token: SECRET, tls }),
  orcaTransport: orcaTransport({ token: SECRET, tls }),
  agentCheckTransport: agentCheckTransport({ port: 1, tls, send: SECRET }),
  'natsTransport with a token': natsTransport({ servers: 'n', token: SECRET, tls }),
  'natsTransport with a password': natsTransport({ servers: 'n', user: 'me', password: SECRET }),
  'natsTransport with credentials': natsTransport({ servers: 'n', credentials: SECRET }),
}

for (const [name, transport] of Object.entries(transports)) {
  test(`${name}: no way of printing the transport shows a secret of it`, (t) => {
    showsNothing(t, transport)
    t.regex(inspect(transport), new RegExp(`kind: '${transport.kind}'`))
    t.regex(inspect(transport), /\(hidden\)/)
  })
}

test('a balancer and its transport print without the token', async (t) => {
  const transport = httpTransport({ token: SECRET, tls })
  await using balancer = createBalancer({ nodes: [], poll: { transport } })
  for (const form of [inspect(balancer), inspect(balancer, { showHidden: true, depth: 4 })]) {
    t.notRegex(form, /S3same/)
  }
})

test('an agent prints without its token and key', async (t) => {
  await using agent = await createAgent({ token: SECRET, agentCheck: {}, grpc: { token: SECRET } })
  showsNothing(t, agent)
})

test("a reason of a peer's has no credentials of a URL, and stays printable", (t) => {
  const error = new Error(
    `GET https://me:${SECRET}@a/?token=${SECRET} failed\u001b[2J\n\u202e\u2028\u007f\u009b`,
  )
  t.is(reasonOf(error), 'GET https://(hidden)@a/?token=(hidden) failed␛[2J␊��␡�')
})
