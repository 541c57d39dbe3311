import type { ServedRequest } from '../traffic.js'
import { onceClosed } from './connection.js'

/** What middleware needs of a request: an `IncomingMessage` of node:http has it, and an `Http2ServerRequest`. */
export interface RequestLike {
  readonly method?: string
  readonly url?: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[]
  readonly socket: ConnectionLike
}

/** What it needs of a connection. */
export interface ConnectionLike {
  once(event: 'close', listener: () => void): unknown
}

/** What middleware needs of a response: a `ServerResponse` of node:http has it, and an `Http2ServerResponse`. */
export interface ResponseLike {
  readonly statusCode: number
  readonly headersSent: boolean
  readonly writableEnded: boolean
  readonly socket: unknown
  setHeader(name: string, value: string): unknown
  writeHead: (...args: never[]) => unknown
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

/**
 * Ends a counted request with its response: it failed where its status is 500 or above, or where the connection closed
 * before the handler had ended it. What was closed before it had a head took at least that long, so its time counts.
 */
export function endWith(response: ResponseLike, request: RequestLike, served: ServedRequest): void {
  const over = (): void => {
    const failed = !response.writableEnded || response.statusCode >= 500
    served.end(failed, !failed || !response.headersSent)
  }
  response.on('close', over)
  // The response waits for those to earlier requests on its connection, whose end Node.js does not tell it of.
  if (response.socket === null) onceClosed(request.socket, response, over)
}

// A list of names and values, or of pairs of them.
function withHeader(headers: readonly unknown[], name: string, value: string): unknown[] {
  return Array.isArray(headers[0]) ? [...headers, [name, value]] : [...headers, name, value]
}

/**
 * Sets a header at the last moment, when the head of the response is written, by the handler or by Node.js: so that it
 * tells of then, and stays where an error handler takes all headers back.
 * @param text gives its value; undefined: the header is left out
 */
export function setLast(response: ResponseLike, name: string, text: { take(): string | undefined }): void {
  const { writeHead } = response
  let written = false
  response.writeHead = (...args: never[]): unknown => {
    // Written twice: Node.js throws.
    const value = written ? undefined : text.take()
    written = true
    if (value === undefined) return writeHead.apply(response, args)
    const last: unknown = args.at(-1)
    // Beside a list of headers Node.js 20 would keep only the last of each name, had one been set otherwise.
    if (Array.isArray(last)) {
      return writeHead.apply(response, [...args.slice(0, -1), withHeader(last, name, value) as never])
    }
    response.setHeader(name, value)
    return writeHead.apply(response, args)
  }
}
