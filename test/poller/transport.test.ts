import { inspect } from 'node:util'
import test from 'ava'
import { OptionError } from '../../dist/errors.js'
import { resolveTarget } from '../../dist/poller/targets.js'
import { type HttpTransportOptions, httpTransport } from '../../dist/poller/transports/http.js'
import type { HttpNodeOptions } from '../../dist/poller/transports/http-endpoint.js'

function urlOf(id: string, options?: HttpTransportOptions): string {
  const target = resolveTarget(id, httpTransport(options))
  if (target.kind === 'none') return `none: ${target.reason}`
  return target.kind === 'http' ? `${target.origin}${target.path}` : target.kind
}

for (const [id, url, options] of [
  ['10.0.0.1:8080', 'http://10.0.0.1:8080/report', {}],
  ['10.0.0.1', 'http://10.0.0.1/report', {}],
  ['server-1', 'http://server-1/report', {}],
  ['server-1.example:81', 'http://server-1.example:81/report', {}],
  ['[::1]:8080', 'http://[::1]:8080/report', {}],
  ['[fd00::12]', 'http://[fd00::12]/report', {}],
  ['fd00::12', 'http://[fd00::12]/report', {}],
  ['10.0.0.1:8080', 'http://10.0.0.1:9000/report', { port: 9000 }],
  ['[::1]:8080', 'http://[::1]:9000/report', { port: 9000 }],
  ['fd00::12', 'http://[fd00::12]:9000/report', { port: 9000 }],
  ['10.0.0.1:8080', 'https://10.0.0.1:8080/load?x=1', { protocol: 'https', path: '/load?x=1' }],
  ['http://10.0.0.1:8080', 'http://10.0.0.1:8080/report', {}],
  ['a', 'https://other:1234/x', { node: () => ({ url: 'https://other:1234/x' }) }],
  ['a:1', 'http://a:1/report', { node: () => undefined }],
] as [string, string, HttpTransportOptions][]) {
  test(`node ${id} with ${Object.keys(options).join(' and ') || 'no options'} is asked at ${url}`, (t) => {
    t.is(urlOf(id, options), url)
  })
}

for (const id of [
  '',
  'http://10.0.0.1:8080/path',
  '10.0.0.1:99999',
  '10.0.0.1:http',
  'a b',
  'user@host',
  '[::1',
  '[zz]:80',
  'a/../b',
  'a?b',
  '\u0000',
  'x'.repeat(1_000_000),
]) {
  test(`an id such as ${JSON.stringify(id.slice(0, 30))} makes no URL, and throws nothing`, (t) => {
    t.regex(urlOf(id), /^none: ./)
  })
}

for (const [what, node] of [
  ['a URL that is none', () => ({ url: 'nowhere' })],
  ['a URL of another protocol', () => ({ url: 'ftp://a/report' })],
  ['a URL with a password', () => ({ url: 'http://me:secret@a/report' })],
  ['an unknown option', () => ({ urls: 'http://a/report' })],
  ['a token with a line break', () => ({ token: 'a\r\nb' })],
  ['a promise', async () => ({})],
  [
    'an error',
    () => {
      throw new Error('no idea')
    },
  ],
] as [string, () => HttpNodeOptions][]) {
  test(`a node option that gives ${what} fails that node alone`, (t) => {
    const transport = httpTransport({ node: (id) => (id === 'bad:1' ? node() : {}) })
    t.true('reason' in resolveTarget('bad:1', transport))
    t.true('origin' in resolveTarget('good:1', transport))
  })
}

test('token and TLS options of the node replace those of the transport', (t) => {
  const transport = httpTransport({
    token: 'all',
    tls: { servername: 'all' },
    node: (id) => (id === 'own:1' ? { token: 'own', tls: { servername: 'own' } } : {}),
  })
  t.like(resolveTarget('a:1', transport), { authorization: 'Bearer all', tls: { servername: 'all' } })
  t.like(resolveTarget('own:1', transport), { authorization: 'Bearer own', tls: { servername: 'own' } })
})

test('what is resolved is plain data that can cross threads', (t) => {
  const transport = httpTransport({
    token: 'x',
    tls: { ca: Buffer.from('pem'), rejectUnauthorized: false },
    node: () => ({}),
  })
  const target = resolveTarget('a:1', transport)
  t.deepEqual(structuredClone(target), {
    ...target,
    tls: { ca: Uint8Array.from(Buffer.from('pem')), rejectUnauthorized: false },
  })
})

for (const [what, given, option, expected] of [
  ['an unknown option', { tokn: 'x' }, 'httpTransport.tokn', /"token"/],
  ['an unknown TLS option', { tls: { serverName: 'x' } }, 'httpTransport.tls.serverName', /"servername"/],
  ['another protocol', { protocol: 'ftp' }, 'httpTransport.protocol', /"http", "https"/],
  ['port 0', { port: 0 }, 'httpTransport.port', /from 1 to 65535/],
  ['port NaN', { port: Number.NaN }, 'httpTransport.port', /from 1 to 65535/],
  ['a path without a slash', { path: 'report' }, 'httpTransport.path', /starts with \//],
  ['a path with a line break', { path: '/a\r\nb' }, 'httpTransport.path', /starts with \//],
  ['a token with a line break', { token: 'a\nb' }, 'httpTransport.token', /ASCII/],
  ['an empty token', { token: '' }, 'httpTransport.token', /ASCII/],
  ['a CA that is a number', { tls: { ca: 5 } }, 'httpTransport.tls.ca', /PEM/],
  ['a node that is no function', { node: {} }, 'httpTransport.node', /function/],
  ['null', null, 'httpTransport', /options/],
] as const) {
  test(`httpTransport refuses ${what}`, (t) => {
    const error = t.throws(() => httpTransport(given as HttpTransportOptions), { instanceOf: OptionError })
    t.is(error.option, option)
    t.regex(error.expected, expected)
  })
}

test('a token that is refused is shown nowhere: not in the error, not in what is told of the node', (t) => {
  const error = t.throws(() => httpTransport({ token: 's3same\n' }), { instanceOf: OptionError })
  t.notRegex(inspect(error), /s3same/)
  const transport = httpTransport({ node: () => ({ token: 's3same\n' }) })
  t.notRegex(urlOf('a:1', transport.settings), /s3same/)
  t.regex(urlOf('a:1', transport.settings), /token is "\(hidden\)": expected visible ASCII/)
})
