import test from 'ava'
import { OptionError } from '../../dist/errors.js'
import { resolveTarget } from '../../dist/poller/targets.js'
import { isBuiltIn, tellsUnasked } from '../../dist/poller/transports/kinds.js'
import { type OrcaTransportOptions, orcaTransport, resolveOrca } from '../../dist/poller/transports/orca.js'

function targetOf(id: string, options?: OrcaTransportOptions) {
  return resolveOrca(id, orcaTransport(options).settings)
}

test('a node is where its id says, each 5 s, without TLS and token', (t) => {
  t.deepEqual(targetOf('10.0.0.1:9001'), {
    kind: 'orca',
    id: '10.0.0.1:9001',
    host: '10.0.0.1',
    port: 9001,
    secure: false,
    authorization: undefined,
    tls: undefined,
    interval: 5_000,
  })
})

const PLACES: [id: string, options: OrcaTransportOptions, host: string, port: number, secure: boolean][] = [
  ['a.example:80', { port: 9001 }, 'a.example', 9001, false],
  ['a.example', { port: 9001, protocol: 'https' }, 'a.example', 9001, true],
  ['a.example', {}, 'a.example', 80, false],
  ['a.example', { protocol: 'https' }, 'a.example', 443, true],
  ['a.example:1', { tls: {} }, 'a.example', 1, true],
  ['a.example:1', { tls: {}, protocol: 'http' }, 'a.example', 1, false],
  ['[::1]:5', {}, '::1', 5, false],
  ['::1', { port: 6 }, '::1', 6, false],
  ['any', { node: () => ({ url: 'https://b.example:7' }) }, 'b.example', 7, true],
  ['any', { node: () => ({ url: 'http://[::2]:8/' }), protocol: 'https' }, '::2', 8, false],
  ['any', { node: () => ({ url: 'https://b.example' }) }, 'b.example', 443, true],
]

for (const [id, options, host, port, secure] of PLACES) {
  test(`${id} is at ${secure ? 'https' : 'http'}, ${host}, ${port} with ${JSON.stringify(options)}${options.node ? ` and ${options.node}` : ''}`, (t) => {
    t.like(targetOf(id, options), { host, port, secure })
  })
}

test('what a node has of its own goes before what all have', (t) => {
  const own = { ca: 'own' }
  const target = targetOf('a:1', {
    token: 'common',
    tls: { ca: 'common' },
    node: () => ({ token: 'own', tls: own }),
  })
  t.is(target.authorization, 'Bearer own')
  t.deepEqual(target.tls, own)
})

test('a node that can’t be reached has a reason, and fails alone', (t) => {
  const reasons: [string, OrcaTransportOptions, RegExp][] = [
    ['no/host', {}, /not host:port/],
    ['a', { node: () => ({ url: 'http://a:1/report' }) }, /path/],
    ['a', { node: () => ({ url: 'http://a:1/?x' }) }, /path/],
    ['a', { node: () => ({ url: 'ftp://a' }) }, /not HTTP/],
    ['a', { node: () => ({ url: 'http://u:p@a' }) }, /password/],
    ['a', { node: () => ({ path: '/x' }) as never }, /orcaTransport\.node/],
    [
      'a',
      {
        node: () => {
          throw new Error('who?')
        },
      },
      /who\?/,
    ],
  ]
  for (const [id, options, reason] of reasons) {
    const target = resolveTarget(id, orcaTransport(options))
    t.is(target.kind, 'none')
    t.regex(target.kind === 'none' ? target.reason : '', reason)
  }
})

test('it is plain data that a thread takes, but for the function', (t) => {
  const transport = orcaTransport({ port: 1, tls: { ca: Buffer.from('x') } })
  t.true(isBuiltIn(transport))
  t.true(tellsUnasked(transport.kind))
  t.deepEqual(structuredClone(targetOf('a')), targetOf('a'))
})

for (const [option, given] of [
  ['protocol', { protocol: 'grpc' }],
  ['port', { port: 0 }],
  ['port', { port: 65_536 }],
  ['token', { token: 'two words' }],
  ['tls.ca', { tls: { ca: 5 } }],
  ['reportInterval', { reportInterval: 99 }],
  ['reportInterval', { reportInterval: Number.NaN }],
  ['reportInterval', { reportInterval: 2 ** 31 }],
  ['node', { node: 'a' }],
  ['path', { path: '/x' }],
] as [string, never][]) {
  test(`a bad ${option} is refused: ${JSON.stringify(given)}`, (t) => {
    const error = t.throws(() => orcaTransport(given), { instanceOf: OptionError })
    t.is(error?.option, `orcaTransport.${option}`)
    t.false(error?.message.includes('two words'))
  })
}
