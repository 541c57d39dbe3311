import { readFileSync } from 'node:fs'
import {
  Agent as HttpAgent,
  type IncomingHttpHeaders,
  type RequestOptions,
  request as requestHttp,
} from 'node:http'
import { request as requestHttps, type RequestOptions as TlsRequestOptions } from 'node:https'
import { connect, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'
import { type AgentOptions, createAgent } from '../../dist/agent/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

/** An agent in virtual time, that is closed when the test ends. */
export async function startAgent(t: ExecutionContext, options: AgentOptions = {}) {
  const clock = new VirtualClock(1_000)
  const agent = await createAgent({ clock, sampler: () => 37.5, ...options })
  t.teardown(() => agent.close())
  // The first sample is taken at once, but not within the call.
  await clock.advance(0)
  return { agent, clock }
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** One request, each on a connection of its own unless an agent is given. */
export function ask(
  url: string,
  options: RequestOptions & TlsRequestOptions & { body?: string } = {},
): Promise<Answer> {
  const { body, ...rest } = options
  return new Promise((resolve, reject) => {
    const request = (url.startsWith('https:') ? requestHttps : requestHttp)(
      url,
      { agent: false, ...rest },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.once('error', reject)
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        )
      },
    )
    request.once('error', reject)
    request.end(body)
  })
}

/** Sends raw bytes and gives back what comes until the other side closes. */
export function rawExchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      text += chunk
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(text))
  })
}

/** An open connection that has sent these bytes. */
export function rawConnection(t: ExecutionContext, port: number, bytes = ''): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.off('error', reject)
      // Being cut off is what some tests are about.
      socket.on('error', () => {})
      if (bytes === '') resolve(socket)
      else socket.write(bytes, () => resolve(socket))
    })
    socket.once('error', reject)
    t.teardown(() => socket.destroy())
  })
}

/** Waits until `condition` holds; the test's own time-out ends what never does. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

export function keepAlive(t: ExecutionContext): HttpAgent {
  const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  return agent
}

/** A file of test/agent/tls. */
export function pem(name: string): string {
  return readFileSync(new URL(`./tls/${name}.pem`, import.meta.url), 'utf8')
}
