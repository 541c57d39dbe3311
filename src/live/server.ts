import type { IncomingMessage, ServerResponse } from 'node:http'
import { authority } from '../host.js'
import { type ListenCounters, listen } from '../web/listening.js'
import { answerPage, isOwnHost, PAGE_HEADERS } from '../web/pages.js'
import { tokenCheck } from '../web/token.js'
import { createWebServer, hasBody, neverEnds, type WebServerCounters } from '../web/web-server.js'
import { writeAll } from '../web/write-all.js'
import { Looks, type Watched } from './looks.js'
import { checkServeOptions, type ServeOptions } from './options.js'
import { type ViewerCounters, Viewers } from './viewers.js'

/** What was asked of a live server, since the start. */
export interface LiveCounters extends Readonly<WebServerCounters & ListenCounters & ViewerCounters> {
  /** Views told as one document. */
  readonly snapshots: number
  /** Answered with 401. */
  readonly unauthorized: number
}

/** A balancer that is served. */
export interface LiveServer {
  /** Where the page is, such as `http://127.0.0.1:9090/`; `snapshot` and `stream` are beside it. */
  readonly url: string
  /** What it was told to listen on. */
  readonly host: string
  /** The real one, also where 0 was asked for. */
  readonly port: number
  /** What it did so far; the counters go on. */
  readonly counters: LiveCounters
  /** Ends the listening and all connections. Safe to call again. */
  close(): Promise<void>
  /** As `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

const NO_STORE = { ...PAGE_HEADERS, 'cache-control': 'no-store' }
const JSON_HEADERS = { ...NO_STORE, 'content-type': 'application/json' }

/**
 * Serves a balancer.
 * @throws ListenError (rejects)
 * @throws OptionError (rejects)
 */
export async function startLiveServer(watched: Watched, given: ServeOptions = {}): Promise<LiveServer> {
  const options = checkServeOptions(given)
  const { token, tls, interval } = options
  const mayLook = tokenCheck(token)
  const viewers = new Viewers(watched.clock, interval, await Looks.from(watched, interval))
  const own = {
    requests: 0,
    refused: 0,
    badConnections: 0,
    dropped: 0,
    acceptErrors: 0,
    snapshots: 0,
    unauthorized: 0,
  }

  function refuse(response: ServerResponse, status: number, error: string): void {
    own.refused++
    send(response, status, { error }, { connection: 'close' })
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    own.requests++
    if (hasBody(request)) refuse(response, 413, 'a request has no body')
    // With a token another site's name is of no use: its pages have none.
    else if (!token && !isOwnHost(request, options.host)) {
      refuse(response, 421, 'this server is called by its address, or localhost')
    } else if (!answerPage('live', request, response)) look(request, response)
  }

  function look(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url?.split('?', 1)[0]
    if (path !== '/snapshot' && path !== '/stream') {
      refuse(response, 404, 'there are /, /snapshot and /stream')
    } else if (request.method !== 'GET') {
      response.setHeader('allow', 'GET')
      refuse(response, 405, 'only GET')
    } else if (isForeign(request)) {
      refuse(response, 403, 'pages of other sites may not look')
    } else if (!mayLook(request.headers.authorization)) {
      own.unauthorized++
      const headers = { 'www-authenticate': 'Bearer', connection: 'close' }
      send(response, 401, { error: 'a bearer token is needed' }, headers)
    } else if (path === '/snapshot') {
      void snapshot(response)
    } else {
      // It is silent between frames, and its viewer says nothing.
      request.socket.setTimeout(0)
      neverEnds(response)
      viewers.stream(response, NO_STORE).catch(() => response.destroy())
    }
  }

  async function snapshot(response: ServerResponse): Promise<void> {
    const { socket } = response.req
    let pieces: readonly Buffer[]
    try {
      // It may take a while, and the client has nothing to read meanwhile.
      socket.setTimeout(0)
      pieces = await viewers.snapshot(response)
      socket.setTimeout(server.timeout)
    } catch {
      send(response, 503, { error: 'the balancer is closed' })
      return
    }
    const length = pieces.reduce((sum, { length }) => sum + length, 0)
    response.writeHead(200, { ...JSON_HEADERS, 'content-length': length })
    own.snapshots++
    await writeAll(response, pieces)
    response.end()
  }

  const server = createWebServer(tls, handle, refuse, own)
  const { close, host, port } = await listen(server, { ...options, unref: true }, own)
  async function end(): Promise<void> {
    viewers.close()
    await close()
  }
  const scheme = tls === undefined ? 'http' : 'https'
  return {
    url: `${scheme}://${authority({ host, port })}/`,
    host,
    port,
    get counters() {
      return { ...own, ...viewers.counters }
    },
    close: end,
    [Symbol.asyncDispose]: end,
  }
}

// Browsers say where a request comes from; others say nothing.
function isForeign({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'] ?? 'none'
  return site !== 'same-origin' && site !== 'none'
}

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { ...JSON_HEADERS, 'content-length': Buffer.byteLength(text), ...headers })
  response.end(text)
}
