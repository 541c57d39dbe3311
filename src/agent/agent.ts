import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { ListenError } from '../errors.js'
import { reportOf } from '../meter/meter.js'
import { writeOrcaJson } from '../reports/orca-json.js'
import { startBackground } from './background.js'
import { type AgentOptions, type CheckedAgentOptions, checkAgentOptions } from './options.js'
import { createReportServer, type ServerCounters } from './report-server.js'
import { createSampling, type SamplingCounters } from './sampling.js'

/** A server that tells how busy this machine, container or process is. */
export interface Agent {
  /** Where the report is, such as `http://127.0.0.1:9000/report`. */
  readonly url: string
  readonly host: string
  /** The port it listens on, also where 0 was asked for. */
  readonly port: number
  /** What it did so far; the counters go on. */
  readonly counters: AgentCounters
  /** Ends the sampling, the listening and all connections. Safe to call again. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface AgentCounters {
  readonly server: ServerCounters
  readonly sampling: SamplingCounters
}

/**
 * Starts an agent: samples in the background, and answers GET and HEAD for `path` at once from the last sample, as JSON
 * of ORCA's names and `age_ms`, the age of the sample when answered. While samples fail the last good one is
 * told with its growing age; before the first, the answer is 503. What `meters` say goes along; the age is then that of the
 * oldest among them and the sample.
 *
 * Listens on loopback unless told otherwise, and keeps the process alive until it is closed, but with `unref`.
 *
 * ```ts
 * const agent = await createAgent({ port: 9000, sampler: eventLoopSampler() })
 * console.log(agent.url) // http://127.0.0.1:9000/report
 * ```
 * @throws OptionError (rejects) for a wrong option
 * @throws ListenError (rejects) where it can't listen, such as for a port in use
 */
export async function createAgent(options: AgentOptions = {}): Promise<Agent> {
  const checked = checkAgentOptions(options)
  const { sampler, sampleTimeout, sampleInterval, clock, meters } = checked
  const sampling = createSampling({ sampler, timeout: sampleTimeout, clock, source: 'agent' })
  const { server, counters } = createReportServer(checked, answer)

  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const port = await listen(server, checked)
  const background = startBackground(sampling, sampleInterval, clock)

  function answer(): string | undefined {
    const last = background.last()
    if (last === undefined) return undefined
    const samples = meters.map((one) => one.sample())
    // A report has one age, and no part of it may pass for fresher than it is. A microsecond is as fine as an age needs to be.
    const age = Math.round(Math.max(0, clock.now() - last.at, ...samples.map((one) => one.age)) * 1000) / 1000
    return writeOrcaJson({ cpu: last.percent, ...reportOf(samples), age })
  }

  let closed: Promise<void> | undefined
  function close(): Promise<void> {
    closed ??= new Promise((resolve) => {
      background.stop()
      server.close(() => resolve())
      // Answers are whole once they are begun; what is left are idle connections, slow ones and unfinished handshakes.
      for (const socket of sockets) socket.destroy()
    })
    return closed
  }

  return {
    url: urlOf(checked, port),
    host: checked.host,
    port,
    counters: { server: counters, sampling: sampling.counters },
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function listen(
  server: ReturnType<typeof createReportServer>['server'],
  { host, port, unref }: CheckedAgentOptions,
): Promise<number> {
  if (unref) server.unref()
  try {
    const listening = once(server, 'listening')
    server.listen({ host, port })
    await listening
  } catch (error) {
    throw new ListenError(host, port, error)
  }
  return (server.address() as AddressInfo).port
}

function urlOf({ host, path, tls }: CheckedAgentOptions, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host
  return `${tls === undefined ? 'http' : 'https'}://${name}:${port}${path}`
}
