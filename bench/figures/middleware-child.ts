// Measures what middleware adds to a request: `middleware-child.ts SERVER ROUNDS REQUESTS SEED`. The server is the real one, in a
// process of its own; only its connections are in memory, since what a system takes for one changes by more than is measured.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Duplex } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { SLOW_PROTOTYPES, unwatchExchanges, watchExchanges } from '../../dist/agent/middleware/early.js'
import {
  type Agent,
  createAgent,
  expressMiddleware,
  fastifyMiddleware,
  httpMiddleware,
  koaMiddleware,
} from '../../dist/index.js'
import { Chance } from '../chance.js'
import { median, trimmedMean } from '../statistics.js'
import type { Kind, MeasuredServer, MiddlewareFindings } from './middleware.js'
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
    const server = createServer((request, response) => current(request, response))
    return overConnections(server, {
      none: () => {
        current = handler
      },
      make: (options) => {
        const made = httpMiddleware(agent, handler, options)
        return () => {
          current = made
        }
      },
    })
  },
  Express: (agent) => {
    const none: ReturnType<typeof expressMiddleware> = (_request, _response, next) => next()
    let current = none
    const app = express()
    app.use((request, response, next) => current(request, response, next))
    app.get('/', (_request, response) => void response.type('json').send(BODY))
    return overConnections(createServer(app), {
      none: () => {
        // Else it would go on watching requests.
        unwatchExchanges()
        current = none
      },
      make: (options) => {
        const made = expressMiddleware(agent, options)
        return () => {
          if (SLOW_PROTOTYPES) watchExchanges(false)
          current = made
        }
      },
    })
  },
  Fastify: async (agent) => {
    type Hook = Parameters<Parameters<ReturnType<typeof fastifyMiddleware>>[0]['addHook']>[1]
    const none: Hook = (_request, _reply, done) => done()
    let current = none
    const app = fastify()
    app.addHook('onRequest', (request, reply, done) => current(request, reply, done))
    app.get('/', (_request, reply) => void reply.type('application/json').send(BODY))
    await app.ready()
    return overConnections(app.server, {
      none: () => {
        current = none
      },
      make: (options) => {
        let made = none
        const addHook = (_name: 'onRequest', hook: Hook): void => {
          made = hook
        }
        fastifyMiddleware(agent, options)({ addHook }, {}, () => {})
        return () => {
          current = made
        }
      },
    })
  },
  Koa: (agent) => {
    const none: ReturnType<typeof koaMiddleware> = (_context, next) => next()
    let current = none
    const app = new Koa()
    app.use((context, next) => current(context, next))
    app.use((context) => {
      context.type = 'json'
      context.body = BODY
    })
    return overConnections(createServer(app.callback()), {
      none: () => {
        current = none
      },
      make: (options) => {
        const made = koaMiddleware(agent, options)
        return () => {
          current = made
        }
      },
    })
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
function overConnections(server: Server, change: Pick<Switched, 'none' | 'make'>): Switched {
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
  return { ...change, turn }
}

const [name, rounds, requests, seed] = process.argv.slice(2)
const start = starts[name as MeasuredServer]
if (start === undefined) throw new Error(`not a server: ${name}`)
const agent = await createAgent({ http: false })
while (agent.report() === undefined) await setTimeout(100)

const server = await start(agent)

interface Variant {
  /** Whether requests ask for a report. */
  readonly asking: boolean
  readonly use: () => void
}

// The same report for all: what it takes to write one anew, now and then, is told by itself.
const LONG = 3_600_000

const variants = {
  plain: { asking: false, use: server.none },
  // What asks for a report is a longer request: its own share is none of the middleware.
  asking: { asking: true, use: server.none },
  ...(server.empty && { empty: { asking: false, use: server.empty } }),
  counted: { asking: false, use: server.make({}, false) },
  reported: { asking: true, use: server.make({ reuse: LONG }, true) },
  anew: { asking: true, use: server.make({ reuse: 0 }, true) },
} satisfies Record<string, Variant>
server.none()

type Name = 'plain' | 'asking' | Kind
const entries = Object.entries(variants) as [Name, Variant][]

/** µs a request. CPU time: whoever else uses the machine does not count. */
async function time({ asking, use }: Variant): Promise<number> {
  use()
  const turns = Math.ceil(Number(requests) / TURN)
  const start = process.cpuUsage()
  for (let i = 0; i < turns; i++) {
    await server.turn(asking)
    await new Promise(setImmediate)
  }
  const { user, system } = process.cpuUsage(start)
  return (user + system) / (turns * TURN)
}

const times = new Map<Name, number[]>(entries.map(([name]) => [name, []]))
const chance = new Chance(Number(seed) + 11)
const warmUp = Math.ceil(Number(rounds) / 3)
for (let round = 0; round < warmUp + Number(rounds); round++) {
  for (const [name, variant] of chance.shuffle([...entries])) {
    const took = await time(variant)
    if (round >= warmUp) times.get(name)?.push(took)
  }
}
await agent.close()

/** Outliers at each end that don't count: a tenth. */
const OUTLIERS = 0.1

// What is compared comes from the same round.
function added(to: Name, by: Name): number {
  const base = times.get(to) ?? []
  return trimmedMean(
    (times.get(by) ?? []).map((took, i) => took - (base[i] ?? Number.NaN)),
    OUTLIERS,
  )
}
const findings: MiddlewareFindings = {
  plain: median(times.get('plain') ?? []),
  added: {
    ...(server.empty && { empty: added('plain', 'empty') }),
    counted: added('plain', 'counted'),
    reported: added('asking', 'reported'),
    anew: added('asking', 'anew'),
  },
}
// A server may still listen.
process.send?.(findings, () => process.exit())
