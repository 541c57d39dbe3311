import type { AgentServer } from './agent-server.js'
import type { CheckedAgentOptions } from './options.js'
import {
  noServerCounters,
  type ReportServer,
  type ServerCounters,
  startReportServer,
} from './report-server.js'
import type { Reporter } from './reporter.js'

/** What each server of an agent did. */
export interface ServersCounters {
  /** The HTTP server; zeros where there is none. */
  readonly server: ServerCounters
}

/** The servers of an agent that were asked for. */
export interface Servers {
  readonly http?: ReportServer
  readonly counters: ServersCounters
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
  async function start<S extends AgentServer>(
    asked: unknown,
    starting: () => Promise<S>,
  ): Promise<S | undefined> {
    if (asked === undefined || asked === false) return undefined
    const server = await starting()
    started.push(server)
    return server
  }
  try {
    const http = await start(options.http, () => startReportServer(options, reporter))
    return { http, counters: { server: http?.counters ?? noServerCounters() }, close }
  } catch (error) {
    await close()
    throw error
  }
}
