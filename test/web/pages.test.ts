import { createServer, type IncomingHttpHeaders, request as send } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { listen } from '../../dist/web/listening.js'
import { answerPage, answerPlainly, isOwnHost, pageFile } from '../../dist/web/pages.js'

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A server of the scene, that listens on loopback as `host`. */
async function server(t: ExecutionContext, host = '127.0.0.1') {
  const http = createServer((request, response) => {
    if (!isOwnHost(request, host)) answerPlainly(response, 421, 'not here')
    else if (!answerPage('scene', request, response)) answerPlainly(response, 404, 'not found')
  })
  const options = { host: '127.0.0.1', port: 0, maxConnections: 10, unref: true }
  const { port, close } = await listen(http, options, { dropped: 0, acceptErrors: 0 })
  t.teardown(close)
  return (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<Answer>((resolve, reject) => {
      send({ port, host: '127.0.0.1', path, headers, method }, async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk as Buffer)
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) })
      })
        .on('error', reject)
        .end()
    })
}

test('a page, its script and its style sheet come with their types, and nothing else does', async (t) => {
  const get = await server(t)
  const types = {
    '/': 'text/html; charset=utf-8',
    '/?from=here': 'text/html; charset=utf-8',
    '/scene.js': 'text/javascript; charset=utf-8',
    '/scene.css': 'text/css; charset=utf-8',
    '/icon.svg': 'image/svg+xml',
    '/licenses.txt': 'text/plain; charset=utf-8',
  }
  for (const [path, type] of Object.entries(types)) {
    const { status, headers } = await get(path)
    t.is(status, 200, path)
    t.is(headers['content-type'], type)
  }
  for (const path of [
    '/live.html',
    '/report.html',
    '/.built.json',
    '/../index.js',
    '/%2e%2e/index.js',
    '/scene.js/',
  ]) {
    t.is((await get(path)).status, 404, path)
  }
})

test('what is sent is compressed as the client takes it', async (t) => {
  const get = await server(t)
  const { body } = pageFile('scene.js')
  const plain = await get('/scene.js')
  t.is(plain.headers['content-encoding'], undefined)
  t.deepEqual(plain.body, body)

  const br = await get('/scene.js', { 'accept-encoding': 'gzip, deflate, br' })
  t.is(br.headers['content-encoding'], 'br')
  t.is(br.headers['content-length'], String(br.body.length))
  t.deepEqual(brotliDecompressSync(br.body), body)

  const gzip = await get('/scene.js', { 'accept-encoding': 'br;q=0, GZIP;q=0.5' })
  t.is(gzip.headers['content-encoding'], 'gzip')
  t.deepEqual(gunzipSync(gzip.body), body)

  for (const { headers } of [plain, br, gzip]) t.is(headers.vary, 'accept-encoding')
  t.is(new Set([plain, br, gzip].map(({ headers }) => headers.etag)).size, 3)
})

test('what the client has is not sent again', async (t) => {
  const get = await server(t)
  const { headers } = await get('/scene.css')
  const again = await get('/scene.css', { 'if-none-match': headers.etag ?? '' })
  t.is(again.status, 304)
  t.is(again.body.length, 0)
  t.is((await get('/scene.css', { 'if-none-match': '"other"' })).status, 200)
})

test('HEAD gets the same headers and no body; other methods are refused', async (t) => {
  const get = await server(t)
  const whole = await get('/')
  const head = await get('/', {}, 'HEAD')
  t.is(head.status, 200)
  t.is(head.body.length, 0)
  t.is(head.headers['content-length'], whole.headers['content-length'])
  const { status, headers } = await get('/', {}, 'POST')
  t.is(status, 405)
  t.is(headers.allow, 'GET, HEAD')
})

test('every answer forbids other hosts, inline scripts and frames', async (t) => {
  const get = await server(t)
  for (const path of ['/', '/scene.js', '/nothing']) {
    const { headers } = await get(path)
    const policy = headers['content-security-policy'] ?? ''
    t.true(policy.includes("default-src 'self';"))
    t.true(policy.includes("frame-ancestors 'none'"))
    t.false(policy.includes('unsafe-inline'))
    t.is(headers['x-content-type-options'], 'nosniff')
  }
})

test('on loopback only its own names are answered to', async (t) => {
  const get = await server(t)
  for (const host of ['localhost', 'localhost:1234', '127.0.0.1:80', '127.1.2.3', '[::1]:8080']) {
    t.is((await get('/', { host })).status, 200, host)
  }
  for (const host of ['example.com', 'localhost.example.com', '127.0.0.1.nip.io:80', '10.0.0.1', 'a b']) {
    t.is((await get('/', { host })).status, 421, host)
  }
})

test('elsewhere any name is', async (t) => {
  const get = await server(t, '0.0.0.0')
  t.is((await get('/', { host: 'balancer.example.com' })).status, 200)
})

test('the report is one file, which loads nothing', (t) => {
  const html = pageFile('report.html').body.toString()
  t.notRegex(html.replace(/<script[\s\S]*?<\/script>/g, ''), /\b(src|href)=/)
  t.true(html.includes('<script id="data" type="application/json">null</script>'))
})
