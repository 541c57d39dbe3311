// Measures what middleware adds to a request: `middleware-child.ts ROUNDS REQUESTS`. The servers are the real ones; only their
// connections are in memory, since what a system takes for one changes by more than is measured.
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { Duplex } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import {
  type Agent,
  createAgent,
  expressMiddleware,
  fastifyMiddleware,
  httpMiddleware,
  koaMiddleware,
  type MiddlewareOptions,
} from '../../dist/index.js'
import { Chance } from '../chance.js'
import { median } from '../statistics.js'
import type { MiddlewareResult } from './middleware.js'

const BODY = '{"fine":true}'
// Requests that come in one turn of the event loop, each on a connection of its own.
const TURN = 10

const HEAD = [
  'GET / HTTP/1.1',
  'Host: 10.0.0.1:8080',
  'User-Agent: bench',
  'Accept: */*',
  'Accept-Encoding: gzip, deflate',
  'Authorization: Bearer 0123456789abcdef',
  'X-Request-Id: 2f1e7c1a-5a55-4b0c-8f0f-0a5d0a3f7f11',
]
const SILENT = Buffer.from([...HEAD, '', ''].join('\r\n'))
const ASKING = Buffer.from([...HEAD, 'endpoint-load-metrics-format: TEXT', '', ''].join('\r\n'))

/** Without options: without the middleware. */
type Maker = (agent: Agent, options?: MiddlewareOptions) => Promise<Server> | Server

const makers: Readonly<Record<string, Maker>> = {
  'node:http': (agent, options) => {
    const handler: RequestListener = (_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(BODY)
    }
    return createServer(options === undefined ? handler : httpMiddleware(agent, handler, options))
  },
  Express: (agent, options) => {
    const app = express()
    if (options !== undefined) app.use(expressMiddleware(agent, options))
    app.get('/', (_request, response) => void response.type('json').send(BODY))
    return createServer(app)
  },
  Fastify: async (agent, options) => {
    const app = fastify()
    if (options !== undefined) await app.register(fastifyMiddleware(agent, options))
    app.get('/', (_request, reply) => void reply.type('application/json').send(BODY))
    await app.ready()
    return app.server
  },
  Koa: (agent, options) => {
    const app = new Koa()
    if (options !== undefined) app.use(koaMiddleware(agent, options))
    app.use((context) => {
      context.type = 'json'
      context.body = BODY
    })
    return createServer(app.callback())
  },
}

/** A connection in memory: the other side asks when it is told to, and takes everything at once. */
class Connection extends Duplex {
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done()
  }
  override _writev(_chunks: unknown, done: () => void): void {
    done()
  }
}

/** µs a request, of so many. */
async function time({ server, connections, head }: Variant, requests: number): Promise<number> {
  let open = 0
  let resolve = (): void => {}
  const count = (_request: IncomingMessage, response: ServerResponse): void => {
    response.on('close', () => {
      open--
      if (open === 0) resolve()
    })
  }
  server.on('request', count)
  // CPU time: whoever else uses the machine meanwhile does not count.
  const start = process.cpuUsage()
  for (let made = 0; made < requests; made += TURN) {
    const over = new Promise<void>((resolved) => {
      resolve = resolved
    })
    open = TURN
    for (const connection of connections) connection.push(head)
    await over
    await new Promise(setImmediate)
  }
  const { user, system } = process.cpuUsage(start)
  server.off('request', count)
  return (user + system) / requests
}

interface Variant {
  readonly server: Server
  readonly connections: readonly Connection[]
  /** What each request is. */
  readonly head: Buffer
  readonly times: number[]
}

async function measure(agent: Agent, make: Maker, rounds: number, requests: number) {
  const variant = async (head: Buffer, options?: MiddlewareOptions): Promise<Variant> => {
    const server = await make(agent, options)
    const connections = Array.from({ length: TURN }, () => new Connection())
    for (const connection of connections) server.emit('connection', connection)
    return { server, connections, head, times: [] }
  }
  const variants = {
    plain: await variant(SILENT),
    asking: await variant(ASKING),
    counted: await variant(SILENT, {}),
    reported: await variant(ASKING, {}),
    anew: await variant(ASKING, { reuse: 0 }),
  }
  const chance = new Chance(11)
  for (let round = 0; round < 2 * rounds; round++) {
    for (const one of chance.shuffle(Object.values(variants))) {
      const took = await time(one, requests)
      // The first half warms up.
      if (round >= rounds) one.times.push(took)
    }
  }
  // What is compared comes from the same moment.
  const added = (to: Variant, by: Variant): number =>
    median(by.times.map((took, i) => took - (to.times[i] ?? Number.NaN)))
  const { plain, asking, counted, reported, anew } = variants
  return {
    plain: median(plain.times),
    counted: added(plain, counted),
    reported: added(asking, reported),
    anew: added(asking, anew),
  }
}

const [rounds, requests] = process.argv.slice(2).map(Number)
const agent = await createAgent({ http: false })
while (agent.report() === undefined) await setTimeout(100)
const results: MiddlewareResult[] = []
for (const [middleware, make] of Object.entries(makers)) {
  results.push({ middleware, ...(await measure(agent, make, rounds ?? 1, requests ?? TURN)) })
}
await agent.close()
process.send?.(results)
process.disconnect?.()
