// Measures what middleware adds to a request: `middleware-child.ts SERVER ROUNDS REQUESTS`. The server is the real one, in a
// process of its own; only its connections are in memory, since what a system takes for one changes by more than is measured.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Duplex } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { unwatchExchanges } from '../../dist/agent/middleware/early.js'
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
import type { MeasuredServer, MiddlewareResult } from './middleware.js'
import { startGrpc } from './middleware-grpc.js'
import type { Switched } from './switched.js'

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

type Start = (agent: Agent) => Switched | Promise<Switched>

const starts: Readonly<Record<MeasuredServer, Start>> = {
  'node:http': (agent) => {
    const handler = (_request: IncomingMessage, response: ServerResponse): void => {
      response.setHeader('content-type', 'application/json')
      response.end(BODY)
    }
    let current = handler
    const use = (options?: MiddlewareOptions): void => {
      current = options === undefined ? handler : httpMiddleware(agent, handler, options)
    }
    return overConnections(
      createServer((request, response) => current(request, response)),
      use,
    )
  },
  Express: (agent) => {
    const none: ReturnType<typeof expressMiddleware> = (_request, _response, next) => next()
    let current = none
    const use = (options?: MiddlewareOptions): void => {
      // Else it would go on watching requests.
      unwatchExchanges()
      current = options === undefined ? none : expressMiddleware(agent, options)
    }
    const app = express()
    app.use((request, response, next) => current(request, response, next))
    app.get('/', (_request, response) => void response.type('json').send(BODY))
    return overConnections(createServer(app), use)
  },
  Fastify: async (agent) => {
    type Hook = Parameters<Parameters<ReturnType<typeof fastifyMiddleware>>[0]['addHook']>[1]
    const none: Hook = (_request, _reply, done) => done()
    let current = none
    const addHook = (_name: 'onRequest', hook: Hook): void => {
      current = hook
    }
    const use = (options?: MiddlewareOptions): void => {
      if (options === undefined) current = none
      else fastifyMiddleware(agent, options)({ addHook }, {}, () => {})
    }
    const app = fastify()
    app.addHook('onRequest', (request, reply, done) => current(request, reply, done))
    app.get('/', (_request, reply) => void reply.type('application/json').send(BODY))
    await app.ready()
    return overConnections(app.server, use)
  },
  Koa: (agent) => {
    const none: ReturnType<typeof koaMiddleware> = (_context, next) => next()
    let current = none
    const use = (options?: MiddlewareOptions): void => {
      current = options === undefined ? none : koaMiddleware(agent, options)
    }
    const app = new Koa()
    app.use((context, next) => current(context, next))
    app.use((context) => {
      context.type = 'json'
      context.body = BODY
    })
    return overConnections(createServer(app.callback()), use)
  },
  gRPC: (agent) => startGrpc(agent, TURN),
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

// Asks a server over connections in memory, a request each.
function overConnections(server: Server, use: Switched['use']): Switched {
  const connections = Array.from({ length: TURN }, () => new Connection())
  for (const connection of connections) server.emit('connection', connection)
  let open = 0
  let over = (): void => {}
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    response.on('close', () => {
      open--
      if (open === 0) over()
    })
  })
  const turn = (asking: boolean): Promise<void> =>
    new Promise((resolve) => {
      over = resolve
      open = TURN
      for (const connection of connections) connection.push(asking ? ASKING : SILENT)
    })
  return { use, turn }
}

const [name, rounds, requests] = process.argv.slice(2)
const start = starts[name as MeasuredServer]
if (start === undefined) throw new Error(`not a server: ${name}`)
const agent = await createAgent({ http: false })
while (agent.report() === undefined) await setTimeout(100)

const { use, useEmpty, turn } = await start(agent)

/** µs a request. CPU time: whoever else uses the machine does not count. */
async function time({ asking, options }: Variant): Promise<number> {
  if (options === 'empty') useEmpty?.()
  else use(options, asking)
  const turns = Math.ceil(Number(requests) / TURN)
  const start = process.cpuUsage()
  for (let i = 0; i < turns; i++) {
    await turn(asking)
    await new Promise(setImmediate)
  }
  const { user, system } = process.cpuUsage(start)
  return (user + system) / (turns * TURN)
}

interface Variant {
  /** Whether requests ask for a report. */
  readonly asking: boolean
  readonly options: { readonly reuse?: number } | 'empty' | undefined
}

const variants = {
  plain: { asking: false, options: undefined },
  asking: { asking: true, options: undefined },
  empty: { asking: false, options: 'empty' },
  counted: { asking: false, options: {} },
  reported: { asking: true, options: {} },
  anew: { asking: true, options: { reuse: 0 } },
} satisfies Record<string, Variant>
const names = (Object.keys(variants) as (keyof typeof variants)[]).filter(
  (name) => name !== 'empty' || useEmpty !== undefined,
)
const times: Record<keyof typeof variants, number[]> = {
  plain: [],
  asking: [],
  empty: [],
  counted: [],
  reported: [],
  anew: [],
}
const chance = new Chance(11)
const warmUp = Math.ceil(Number(rounds) / 4)
for (let round = 0; round < warmUp + Number(rounds); round++) {
  for (const name of chance.shuffle([...names])) {
    const took = await time(variants[name])
    if (round >= warmUp) times[name].push(took)
  }
}
await agent.close()

// What is compared comes from the same moment.
function added(to: keyof typeof variants, by: keyof typeof variants): number {
  return median(times[by].map((took, i) => took - (times[to][i] ?? Number.NaN)))
}
const result: MiddlewareResult = {
  server: name as MeasuredServer,
  plain: median(times.plain),
  empty: useEmpty && added('plain', 'empty'),
  counted: added('plain', 'counted'),
  reported: added('asking', 'reported'),
  anew: added('asking', 'anew'),
}
// A server may still listen.
process.send?.(result, () => process.exit())
