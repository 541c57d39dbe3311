import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { FORMAT_HEADER } from '../../reports/orca-headers.js'
import type { ServedRequest } from '../traffic.js'
import {
  type ConnectionLike,
  type Exchange,
  endBy,
  type HeaderText,
  type RequestLike,
  type ResponseLike,
  rawHeader,
  setLast,
  writeHeadWith,
} from './exchange.js'

/** A response that nothing has changed. */
interface RawResponse extends ResponseLike {
  statusCode: number
  statusMessage?: string
  locals?: unknown
}

/** What node:http tells on these channels: a request has come and no handler has seen it; a response is flushed. */
interface Told {
  readonly request: RequestLike
  readonly response: RawResponse
  readonly socket: ConnectionLike
}
const START = 'http.server.request.start'
const FINISH = 'http.server.response.finish'

/**
 * Whether a framework makes slow what is done with a response. Express gives each request and response another prototype.
 * Up to Node.js 22 an object to which this was done gets a hidden class of its own by the next property that it has not had:
 * from then on each access to any property of it misses all caches, and costs half a microsecond or more.
 */
export const SLOW_PROTOTYPES = Number.parseInt(process.versions.node, 10) < 24

// What Express and node:http will set on it. As long as they find all of it there, it shares its hidden class with the others.
function declare(response: RawResponse): void {
  const { statusCode, statusMessage } = response
  response.statusCode = statusCode
  response.statusMessage = statusMessage
  response.locals = undefined
}

/**
 * A request that node:http told of before a framework had it: all that has to be done with its response is done before,
 * and the end is told by node:http, and not by a listener.
 */
class EarlyExchange implements Exchange {
  readonly response: ResponseLike
  readonly asked: string | undefined
  readonly #prepared: boolean
  // Mostly one: each middleware counts for its own agent.
  #counted: readonly ServedRequest[] = []
  #text: HeaderText | undefined

  constructor({ request, response }: Told) {
    this.response = response
    declare(response)
    this.asked = rawHeader(request, FORMAT_HEADER)
    this.#prepared = reportsUnasked || this.asked !== undefined
    if (this.#prepared) response.writeHead = (...args: never[]): unknown => this.#writeHead(args)
  }

  count(served: ServedRequest): void {
    this.#counted = [...this.#counted, served]
  }

  setLast(text: HeaderText): void {
    if (this.#prepared) this.#text ??= text
    else setLast(this.response, text)
  }

  /** @param flushed whether the response is, or will never be */
  over(flushed: boolean): void {
    if (latest === this) latest = undefined
    for (const served of this.#counted) endBy(this.response, served, flushed || undefined)
  }

  #writeHead(args: never[]): unknown {
    // That of the framework, where it has one.
    const { writeHead }: ResponseLike = Object.getPrototypeOf(this.response)
    const text = this.#text
    // Written twice: Node.js throws.
    this.#text = undefined
    return writeHeadWith(this.response, writeHead, args, text?.take())
  }
}

/** Those of a connection that are not over. */
const open = new WeakMap<ConnectionLike, EarlyExchange[]>()
// That of the last request: most are handled before another comes.
let latest: EarlyExchange | undefined
let watching = false
let reportsUnasked = false

function placeOf(exchanges: readonly EarlyExchange[], response: ResponseLike): number {
  return exchanges.findIndex((exchange) => exchange.response === response)
}

function watchConnection(connection: ConnectionLike): EarlyExchange[] {
  const exchanges: EarlyExchange[] = []
  open.set(connection, exchanges)
  connection.once('close', () => {
    for (const exchange of exchanges.splice(0)) exchange.over(false)
  })
  return exchanges
}

function onStart(message: unknown): void {
  const told = message as Told
  const exchange = new EarlyExchange(told)
  latest = exchange
  const exchanges = open.get(told.socket) ?? watchConnection(told.socket)
  exchanges.push(exchange)
}

function onFinish(message: unknown): void {
  const { response, socket } = message as Told
  const exchanges = open.get(socket)
  if (exchanges === undefined) return
  const place = placeOf(exchanges, response)
  if (place >= 0) exchanges.splice(place, 1)[0]?.over(true)
}

/**
 * Has node:http tell of each request of this process from now on, whatever server it is for.
 * @param unasked whether reports are sent to those that don't ask, too
 */
export function watchExchanges(unasked: boolean): void {
  reportsUnasked ||= unasked
  if (watching) return
  watching = true
  subscribe(START, onStart)
  subscribe(FINISH, onFinish)
}

/** Ends that: for a benchmark that compares the same server with and without. */
export function unwatchExchanges(): void {
  watching = false
  reportsUnasked = false
  unsubscribe(START, onStart)
  unsubscribe(FINISH, onFinish)
}

/** What node:http told of a request that is not over; undefined over HTTP/2, and where nothing was watched when it came. */
export function earlyExchange(request: RequestLike, response: ResponseLike): Exchange | undefined {
  if (latest?.response === response) return latest
  const exchanges = open.get(request.socket)
  return exchanges?.[placeOf(exchanges, response)]
}
