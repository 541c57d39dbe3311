import { loadNats } from '../optional-package.js'
import {
  type AgentCheckCounters,
  type AgentCheckServer,
  startAgentCheckServer,
} from './agent-check-server.js'
import type { AgentServer } from './agent-server.js'
import type { GrpcCounters, GrpcServer } from './grpc-server.js'
import type { NatsPublisher, NatsPublisherCounters } from './nats-publisher.js'
import type { CheckedAgentOptions } from './options.js'
import {
  noServerCounters,
  type ReportServer,
  type ReportServerCounters,
  startReportServer,
} from './report-server.js'
import type { Reporter } from './reporter.js'

/** What each server of an agent did. */
export interface AgentServersCounters {
  /** The HTTP server; zeros where there is none. */
  readonly server: ReportServerCounters
  /** The port for agent checks, where there is one. */
  readonly agentCheck?: AgentCheckCounters
  /** The port for gRPC, where there is one. */
  readonly grpc?: GrpcCounters
  /** The publisher on NATS, where there is one. */
  readonly nats?: NatsPublisherCounters
}

/** The servers of an agent that were asked for. */
export interface Servers {
  readonly http?: ReportServer
  readonly agentCheck?: AgentCheckServer
  readonly grpc?: GrpcServer
  readonly nats?: NatsPublisher
  readonly counters: AgentServersCounters
  /** Ends them all. */
  close(): Promise<void>
}

/**
 * Starts all that was asked for; where one can't, the others are closed again.
 *
 * A further kind has a module with `start<Kind>Server(options, reporter)` that gives an {@link AgentServer}, an entry in
 * options.ts, and a line here.
 * @throws ListenError (rejects) where one can't listen
 * @throws OptionError (rejects) for what only a server finds out
 */
export async function startServers(options: CheckedAgentOptions, reporter: Reporter): Promise<Servers> {
  const started: AgentServer[] = []
  async function close(): Promise<void> {
    await Promise.all(started.map((server) => server.close()))
  }
  async function start<O, S extends AgentServer>(
    given: O | undefined,
    starting: (given: O) => Promise<S>,
  ): Promise<S | undefined> {
    if (given === undefined) return undefined
    const server = await starting(given)
    started.push(server)
    return server
  }
  const { unref, token, tls, clock } = options
  try {
    const agentCheck = await start(options.agentCheck, (given) =>
      startAgentCheckServer({ ...given, unref }, reporter),
    )
    // The modules of these two are loaded where they are used, as their packages are.
    const grpc = await start(options.grpc, async (given) => {
      const { startGrpcServer } = await import('./grpc-server.js')
      return startGrpcServer(
        { ...given, token: given.token ?? token, tls: given.tls ?? tls, unref, clock },
        reporter,
      )
    })
    const nats = await start(options.nats, async (given) => {
      await loadNats()
      const { NatsPublisher } = await import('./nats-publisher.js')
      return new NatsPublisher(given, reporter, clock)
    })
    const others = { agentCheck: agentCheck?.counters, grpc: grpc?.counters, nats: nats?.counters }
    // The last, since its metrics have what the others did.
    const http = await start(options.http || undefined, () =>
      startReportServer(options, reporter, { ...reporter.counters, ...others }),
    )
    const counters = { server: http?.counters ?? noServerCounters(), ...others }
    return { http, agentCheck, grpc, nats, counters, close }
  } catch (error) {
    await close()
    throw error
  }
}
