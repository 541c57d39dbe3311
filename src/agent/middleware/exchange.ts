import { FORMAT_HEADER, REPORT_HEADER } from '../../reports/orca-headers.js'
import type { ServedRequest } from '../traffic.js'
import { onceClosed } from './connection.js'

/** What middleware needs of a request: an `IncomingMessage` of node:http has it, and an `Http2ServerRequest`. */
export interface RequestLike {
  /** Such as `GET`. */
  readonly method?: string | undefined
  /** Path and query. */
  readonly url?: string | undefined
  /** 1 or 2. */
  readonly httpVersionMajor?: number | undefined
  /** Headers by names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[]
  /** The connection that it came on. */
  readonly socket: ConnectionLike
}

/** What it needs of a connection. */
export interface ConnectionLike {
  /** Whether it is closed. */
  readonly destroyed?: boolean | undefined
  /** Calls `listener` when it closes. */
  once(event: 'close', listener: () => void): unknown
}

/** What middleware needs of a response: a `ServerResponse` of node:http has it, and an `Http2ServerResponse`. */
export interface ResponseLike {
  /** The status that it has, or will have. */
  readonly statusCode: number
  /** Whether its head is on its way. */
  readonly headersSent: boolean
  /** Whether all of it was written. */
  readonly writableEnded: boolean
  /** Whether it was given up. */
  readonly destroyed?: boolean | undefined
  /** The connection that it goes to. */
  readonly socket: unknown
  /** Sets a header. */
  setHeader(name: string, value: string): unknown
  /** Sends its head. */
  writeHead: (...args: never[]) => unknown
  /** Calls `listener` when it is closed. */
  on(event: 'close', listener: () => void): unknown
}

/**
 * The first value of a header of a request. `headers` would be made of these at its first use, which costs more than all
 * the rest where nobody else needs it.
 * @param name in lower case
 */
export function rawHeader({ rawHeaders }: RequestLike, name: string): string | undefined {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const other = rawHeaders[i] ?? ''
    if (other.length === name.length && other.toLowerCase() === name) return rawHeaders[i + 1]
  }
  return undefined
}

/** A header's value, as it is when it is taken; undefined: there is none. */
export interface HeaderText {
  take(): string | undefined
}

/** A request and its response, and what middleware does with them. */
export interface Exchange {
  /**
   * Ends a counted request with its response: it failed where its status is 500 or above, or where the connection closed
   * before the handler had ended it. What was closed before it had a head took at least that long, so its time counts.
   */
  count(served: ServedRequest): void
  /** The form in which the request asks for a report. */
  readonly asked: string | undefined
  /**
   * Sets the report's header at the last moment, when the head of the response is written, by the handler or by Node.js: so
   * that it tells of then, and stays where an error handler takes all headers back.
   */
  setLast(text: HeaderText): void
}

/**
 * Ends a request whose response is over, or will never be.
 * @param ended whether the handler ended it, where that is known
 */
export function endBy(response: ResponseLike, served: ServedRequest, ended = response.writableEnded): void {
  const failed = !ended || response.statusCode >= 500
  served.end(failed, !failed || !response.headersSent)
}

/** One that nothing is known of before the middleware sees it. It costs a listener, and a property of the response. */
export class SeenExchange implements Exchange {
  readonly #request: RequestLike
  readonly #response: ResponseLike

  constructor(request: RequestLike, response: ResponseLike) {
    this.#request = request
    this.#response = response
  }

  count(served: ServedRequest): void {
    const request = this.#request
    const response = this.#response
    const over = (): void => endBy(response, served)
    if (isClosed(response, request)) {
      over()
      return
    }
    response.on('close', over)
    // The response waits for those to earlier requests on its connection, whose end Node.js does not tell it of.
    if (response.socket === null) onceClosed(request.socket, response, over)
  }

  get asked(): string | undefined {
    return rawHeader(this.#request, FORMAT_HEADER)
  }

  setLast(text: HeaderText): void {
    setLast(this.#response, text)
  }
}

// Where something waited before the middleware, the client may have gone meanwhile, and nothing more is told of that.
function isClosed(response: ResponseLike, request: RequestLike): boolean {
  // In its compatible form HTTP/2 takes the socket from a response that has closed.
  if ((request.httpVersionMajor ?? 1) >= 2) return response.socket === undefined
  return response.destroyed === true || (response.socket === null && request.socket.destroyed === true)
}

// A list of names and values, or of pairs of them.
function withHeader(headers: readonly unknown[], value: string): unknown[] {
  return Array.isArray(headers[0]) ? [...headers, [REPORT_HEADER, value]] : [...headers, REPORT_HEADER, value]
}

/** See {@link Exchange.setLast}. */
export function setLast(response: ResponseLike, text: HeaderText): void {
  const { writeHead } = response
  let written = false
  response.writeHead = (...args: never[]): unknown => {
    // Written twice: Node.js throws.
    const value = written ? undefined : text.take()
    written = true
    return writeHeadWith(response, writeHead, args, value)
  }
}

/**
 * Writes a head with the report's header.
 * @param writeHead what would write it without
 */
export function writeHeadWith(
  response: ResponseLike,
  writeHead: ResponseLike['writeHead'],
  args: never[],
  value: string | undefined,
): unknown {
  if (value === undefined) return writeHead.apply(response, args)
  const last: unknown = args.at(-1)
  // Beside a list of headers Node.js 20 would keep only the last of each name, had one been set otherwise.
  if (Array.isArray(last)) {
    return writeHead.apply(response, [...args.slice(0, -1), withHeader(last, value) as never])
  }
  response.setHeader(REPORT_HEADER, value)
  return writeHead.apply(response, args)
}
