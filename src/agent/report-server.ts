import type { IncomingMessage, ServerResponse } from 'node:http'
import { BadReportError } from '../errors.js'
import { authority } from '../host.js'
import type { Report } from '../report.js'
import { FORMAT_HEADER, HEADER_FORMS, REPORT_HEADER } from '../reports/orca-headers.js'
import { writeOrcaJson } from '../reports/orca-json.js'
import { type Address, listen } from '../web/listening.js'
import { tokenCheck } from '../web/token.js'
import { createWebServer, hasBody } from '../web/web-server.js'
import type { AgentServer } from './agent-server.js'
import { METRICS_TYPE, writeMetrics } from './metrics.js'
import type { CheckedAgentOptions } from './options.js'
import { reportHeader } from './report-header.js'
import type { Reporter } from './reporter.js'

/** What the agent's server did, since the start. */
export interface ReportServerCounters {
  /** Requests whose head was read. */
  readonly requests: number
  /** Answered with a report. */
  readonly answered: number
  /** Answered with Prometheus text. */
  readonly scraped: number
  /** Reports that went without the header that was asked for: of an unknown form, too long, or not to be written so. */
  readonly headerless: number
  /** Answered with 503: there was no sample yet. */
  readonly notReady: number
  /** Answered with 401. */
  readonly unauthorized: number
  /** Answered with 400 for want of a host header, 404, 405, 413 or 417. */
  readonly refused: number
  /** Connections that were closed for a head that was bad, too long or too slow, or for failing the TLS handshake. */
  readonly badConnections: number
  /** Connections that were closed at once: one too many, of all or of those from one address. */
  readonly dropped: number
  /** Connections that the system could not hand over, such as for want of file descriptors. */
  readonly acceptErrors: number
}

const JSON_TYPE = 'application/json'

/** Answers with reports over HTTP. */
export interface ReportServer extends AgentServer {
  readonly address: Address
  readonly counters: ReportServerCounters
  /** Where the report is. */
  readonly url: string
}

/** Zeros. */
export function noServerCounters() {
  return {
    requests: 0,
    answered: 0,
    scraped: 0,
    headerless: 0,
    notReady: 0,
    unauthorized: 0,
    refused: 0,
    badConnections: 0,
    dropped: 0,
    acceptErrors: 0,
  }
}

/** What an answer has beside its head. */
interface Content {
  readonly type: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Starts the server that answers with reports and metrics. Every answer is made at once, from memory.
 * @param others counters of the agent's other parts, for the metrics
 * @throws ListenError (rejects)
 * @throws OptionError (rejects) for a key and a certificate that are of no use
 */
export async function startReportServer(
  options: CheckedAgentOptions,
  reporter: Reporter,
  others: Readonly<Record<string, object | undefined>>,
): Promise<ReportServer> {
  const { path, metrics, token } = options
  const mayRead = tokenCheck(token)
  const counters = noServerCounters()

  const contents = new Map<string, (request: IncomingMessage) => Content | undefined>([[path, report]])
  if (metrics !== false) contents.set(metrics, scrape)

  function report(request: IncomingMessage): Content | undefined {
    const now = reporter.report()
    if (now === undefined) {
      counters.notReady++
      return undefined
    }
    counters.answered++
    return { type: JSON_TYPE, body: writeOrcaJson(now), headers: headersOf(now, wantedForm(request)) }
  }

  function headersOf(now: Report, wanted: string | undefined): Content['headers'] {
    if (wanted === undefined) return undefined
    const value = headerOf(now, wanted)
    if (value === undefined) counters.headerless++
    return value === undefined ? undefined : { [REPORT_HEADER]: value }
  }

  function scrape(): Content {
    counters.scraped++
    const body = writeMetrics(reporter.report(), reporter.state, { http: counters, ...others })
    return { type: METRICS_TYPE, body }
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    counters.requests++
    // A body is never read: what is still to come goes with the connection.
    if (hasBody(request)) response.setHeader('connection', 'close')
    const content = contents.get(request.url?.split('?', 1)[0] ?? '')
    if (request.httpVersion === '1.1' && request.headers.host === undefined) {
      counters.refused++
      send(response, 400, refusal('a request has a host header'), { connection: 'close' })
    } else if (!mayRead(request.headers.authorization)) {
      counters.unauthorized++
      // Who has no token keeps no connection either.
      send(response, 401, refusal('a bearer token is needed'), {
        'www-authenticate': 'Bearer',
        connection: 'close',
      })
    } else if (content === undefined) {
      counters.refused++
      send(response, 404, refusal(`the report is at ${path}`))
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      counters.refused++
      send(response, 405, refusal('only GET and HEAD'), { allow: 'GET, HEAD' })
    } else if (hasBody(request)) {
      counters.refused++
      send(response, 413, refusal('a request has no body'))
    } else {
      const found = content(request)
      if (found === undefined) send(response, 503, refusal('no sample yet'))
      else send(response, 200, found.body, { 'content-type': found.type, ...found.headers })
    }
  }

  const server = createWebServer(
    options.tls,
    handle,
    (response, status, error) => send(response, status, refusal(error)),
    counters,
  )
  const { close, ...address } = await listen(server, options, counters)
  const scheme = options.tls === undefined ? 'http' : 'https'
  return { address, counters, url: `${scheme}://${authority(address)}${path}`, close }
}

/** The form of a report header that a request asks for, by a header of its own or by `?format=`. */
function wantedForm({ headers, url = '' }: IncomingMessage): string | undefined {
  const given = headers[FORMAT_HEADER]
  if (given !== undefined) return String(given).trim().toUpperCase()
  const query = url.indexOf('?')
  if (query < 0) return undefined
  return new URLSearchParams(url.slice(query)).get('format')?.toUpperCase()
}

/** The value of a report header; undefined where there can be none. */
function headerOf(report: Report, wanted: string): string | undefined {
  const form = HEADER_FORMS.find((known) => known === wanted)
  if (form === undefined) return undefined
  try {
    return reportHeader(report, form)
  } catch (error) {
    if (error instanceof BadReportError) return undefined
    throw error
  }
}

function refusal(error: string): string {
  return JSON.stringify({ error })
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...headers,
  })
  response.end(body)
}
