import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { reasonOf } from '../errors.js'
import { bareHost, isLoopback } from '../host.js'
import { readPage } from './page-source.js'

/** The pages that are served; the report of a simulation is a file of its own instead. */
export type PageName = 'scene' | 'live'

/** A file that belongs to a page. */
interface PageFile {
  readonly body: Buffer
  /** Its media type. */
  readonly type: string
  /** Its fingerprint, in quotes. */
  readonly etag: string
}

/**
 * What every answer of a server of pages has. The pages take nothing from other hosts, run no inline script, can't be
 * framed, and are not sniffed.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

const files = new Map<string, PageFile>()

/**
 * One of the pages' files, such as `scene.html`; read once.
 * @throws PeerError where the pages are not there
 */
export function pageFile(name: string): PageFile {
  const known = files.get(name)
  if (known !== undefined) return known
  const body = readPage(name)
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const file = { body, type: TYPES[extname(name)] ?? 'application/octet-stream', etag }
  files.set(name, file)
  return file
}

type Encoding = 'br' | 'gzip'

const compressions: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  // 9 of 11: two thirds of the gain, in a tenth of the time.
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (body) => promisify(gzip)(body, { level: 9 }),
}

const compressed = new Map<string, Promise<Buffer>>()

/** A file in an encoding; made at its first use and kept. */
function compressedFile(name: string, encoding: Encoding): Promise<Buffer> {
  const key = `${encoding} ${name}`
  let made = compressed.get(key)
  if (made === undefined) {
    made = compressions[encoding](pageFile(name).body)
    compressed.set(key, made)
  }
  return made
}

/** The better of the encodings that a client takes; undefined for none. */
function encodingFor(accepted: string): Encoding | undefined {
  const taken = accepted
    .toLowerCase()
    .split(',')
    .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
    .map((part) => part.split(';', 1)[0]?.trim())
  return (['br', 'gzip'] as const).find((encoding) => taken.includes(encoding))
}

/**
 * Whether a request names the server as its own users do. Where the server listens on loopback, names of other sites
 * are turned away: a page of such a site whose name was made to point here would otherwise read what is served.
 * @param host that the server listens on
 */
export function isOwnHost({ headers }: IncomingMessage, host: string): boolean {
  if (!isLoopback(host)) return true
  const named = headers.host ?? ''
  if (!URL.canParse(`http://${named}`)) return false
  const { hostname } = new URL(`http://${named}`)
  return isLoopback(hostname) || bareHost(hostname) === bareHost(host)
}

/** Answers with a few words, as text. */
export function answerPlainly(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, { ...PAGE_HEADERS, 'content-type': 'text/plain; charset=utf-8' })
    .end(`${text}\n`)
}

/**
 * Answers what belongs to a page: `/`, its script, its style sheet, the icon and the licenses of what it is made with.
 * @returns false, and answers nothing, where the request is for something else
 */
export function answerPage(page: PageName, request: IncomingMessage, response: ServerResponse): boolean {
  const path = (request.url ?? '').split('?', 1)[0]
  const name = path === '/' ? `${page}.html` : path?.slice(1)
  const own = [`${page}.html`, `${page}.js`, `${page}.css`, 'icon.svg', 'licenses.txt']
  if (name === undefined || !own.includes(name)) return false
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    answerPlainly(response, 405, 'GET or HEAD')
    return true
  }
  void send(name, request, response)
  return true
}

async function send(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const { body, type, etag } = pageFile(name)
    const encoding = encodingFor(request.headers['accept-encoding'] ?? '')
    const content = encoding === undefined ? body : await compressedFile(name, encoding)
    // One tag for all encodings of a file would have caches mix them up.
    const tag = encoding === undefined ? etag : etag.replace(/"$/, `-${encoding}"`)
    const headers = { ...PAGE_HEADERS, etag: tag, vary: 'accept-encoding' }
    if (request.headers['if-none-match'] === tag) {
      response.writeHead(304, headers).end()
      return
    }
    response.writeHead(200, {
      ...headers,
      'content-type': type,
      'content-length': content.length,
      ...(encoding !== undefined && { 'content-encoding': encoding }),
    })
    response.end(request.method === 'HEAD' ? undefined : content)
  } catch (error) {
    answerPlainly(response, 500, `There is no page to show: ${reasonOf(error)}`)
  }
}
