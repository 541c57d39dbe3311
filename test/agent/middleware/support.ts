import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import {
  expressMiddleware,
  fastifyMiddleware,
  httpMiddleware,
  koaMiddleware,
  type LoadSource,
  type MiddlewareOptions,
} from '../../../dist/agent/index.js'
import { Traffic } from '../../../dist/agent/traffic.js'
import type { Report } from '../../../dist/report.js'
import { VirtualClock } from '../../../dist/simulation/virtual-clock.js'

/** An agent without servers, in virtual time, with a report that the test can change. */
export function fakeAgent(report: Report = { cpu: 37.5 }) {
  const clock = new VirtualClock(5_000)
  const traffic = new Traffic({ clock })
  const agent: LoadSource & { said: Report | undefined; reports: number } = {
    traffic,
    said: report,
    reports: 0,
    report() {
      agent.reports++
      return agent.said === undefined ? undefined : { ...agent.said, inFlight: traffic.inFlight }
    },
  }
  return { agent, clock, traffic }
}

/** What a test lets a server do with a request, the same on all of them. */
export interface Routes {
  /** By path; may answer later, or never. */
  readonly [path: string]: (response: Answering) => void
}

/** A response as all of the servers can make it. */
export interface Answering {
  /** Sets the status and answers with a text. */
  send(status: number, text: string): void
  /** Fails as a handler does whose code throws. */
  throw(): void
  /** Writes a part of a body, and says no more. */
  begin(text: string): void
}

export type Starter = (
  t: ExecutionContext,
  agent: LoadSource,
  routes: Routes,
  options?: MiddlewareOptions,
) => Promise<number>

/** Lets a server listen until the test ends. */
export async function listen(t: ExecutionContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

function nodeAnswer(response: Parameters<RequestListener>[1]): Pick<Answering, 'send' | 'begin'> {
  return {
    send(status, text) {
      response.statusCode = status
      response.end(text)
    },
    begin: (text) => void response.write(text),
  }
}

const startHttp: Starter = (t, agent, routes, options) => {
  const handler: RequestListener = (request, response) => {
    const throws = () => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end('broken')
    }
    routes[request.url ?? '']?.({ ...nodeAnswer(response), throw: throws })
  }
  return listen(t, createServer(httpMiddleware(agent, handler, options)))
}

const startExpress: Starter = (t, agent, routes, options) => {
  const app = express()
  app.set('env', 'test')
  app.use(expressMiddleware(agent, options))
  app.use((request, response) => {
    let failed = false
    routes[request.url]?.({
      send: (status, text) => void response.status(status).send(text),
      throw: () => {
        failed = true
      },
      begin: (text) => void response.write(text),
    })
    if (failed) throw new Error('broken')
  })
  return listen(t, createServer(app))
}

const startFastify: Starter = async (t, agent, routes, options) => {
  const app = fastify()
  await app.register(fastifyMiddleware(agent, options))
  app.all('*', (request, reply) => {
    let failed = false
    routes[request.url]?.({
      send: (status, text) => void reply.code(status).send(text),
      throw: () => {
        failed = true
      },
      begin: (text) => {
        reply.hijack()
        reply.raw.write(text)
      },
    })
    if (failed) throw new Error('broken')
  })
  await app.ready()
  return listen(t, app.server)
}

const startKoa: Starter = (t, agent, routes, options) => {
  const app = new Koa()
  app.silent = true
  app.use(koaMiddleware(agent, options))
  app.use(
    (context) =>
      new Promise<void>((resolve, reject) => {
        const route = routes[context.url]
        if (route === undefined) return resolve()
        route({
          send(status, text) {
            context.status = status
            context.body = text
            resolve()
          },
          throw: () => reject(new Error('broken')),
          begin(text) {
            context.respond = false
            context.res.write(text)
          },
        })
      }),
  )
  return listen(t, createServer(app.callback()))
}

/** All that there is middleware for. */
export const SERVERS: readonly (readonly [name: string, start: Starter])[] = [
  ['node:http', startHttp],
  ['Express', startExpress],
  ['Fastify', startFastify],
  ['Koa', startKoa],
]
