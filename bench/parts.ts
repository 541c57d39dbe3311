import type { Progress } from '../dist/cli/progress.js'
import { type Figures, LARGE } from './bars.js'
import { engines } from './engines.js'
import { pollFleet } from './figures/fleet.js'
import { countCollections, type GcResult } from './figures/gc.js'
import { measureGrpcPolicies } from './figures/grpc-policies.js'
import { tableBytes } from './figures/memory.js'
import { measureMiddleware } from './figures/middleware.js'
import { measureNats } from './figures/nats.js'
import { startNats } from './figures/nats-server.js'
import { pollCycles } from './figures/poll.js'
import { measureUndici } from './figures/undici.js'
import { measureWaits } from './figures/waits.js'
import type { Settings } from './settings.js'

/** Which figures are measured: those that were asked for alone, or all that need nothing else, or really all. */
export interface PartOptions {
  readonly poll?: boolean
  readonly grpc?: boolean
  /** The address of a NATS server. */
  readonly nats?: string
  readonly waits?: boolean
  readonly middleware?: boolean
  readonly undici?: boolean
  readonly grpcPolicies?: boolean
}

interface Part {
  readonly what: string
  readonly measure: () => Promise<Figures>
}

/** Whether some figures were asked for alone. */
export function isAlone(options: PartOptions): boolean {
  const { poll, grpc, nats, waits, middleware, undici, grpcPolicies } = options
  return [poll, grpc, waits, middleware, undici, grpcPolicies].includes(true) || nats !== undefined
}

/** @param whole the pages need those too that have an option of their own */
export async function measureFigures(
  settings: Settings,
  options: PartOptions,
  whole: boolean,
  progress: Progress,
): Promise<Figures> {
  let figures: Figures = {}
  const parts = partsOf(settings, options, whole)
  for (const [i, { what, measure }] of parts.entries()) {
    progress.step(what, i, parts.length)
    figures = { ...figures, ...(await measure()) }
  }
  progress.clear()
  return figures
}

function partsOf(settings: Settings, options: PartOptions, whole: boolean): Part[] {
  const { nats } = options
  const poll: Part[] = [
    { what: 'polling', measure: async () => ({ poll: await pollCycles(settings.poll) }) },
    { what: 'polling a fleet', measure: async () => ({ fleet: await pollFleet(settings.fleet) }) },
  ]
  const streams: Part = {
    what: 'hearing a fleet by gRPC',
    measure: async () => ({ streams: await pollFleet(settings.fleet, 'grpc') }),
  }
  const waits: Part = {
    what: 'jobs for worker threads',
    measure: async () => ({ waits: await measureWaits(settings.waits) }),
  }
  const middleware: Part = {
    what: 'middleware',
    measure: async () => ({ middleware: await measureMiddleware(settings.middleware) }),
  }
  const undici: Part = {
    what: 'dispatchers of undici',
    measure: async () => ({ undici: await measureUndici(settings.undici) }),
  }
  const policies: Part = {
    what: 'calls of gRPC',
    measure: async () => ({ grpcPolicies: await measureGrpcPolicies(settings.grpcPolicies) }),
  }
  const alone = [
    ...(nats !== undefined ? [hearing(nats, settings)] : []),
    ...(options.grpc ? [streams] : []),
    ...(options.poll ? poll : []),
    ...(options.waits ? [waits] : []),
    ...(options.middleware ? [middleware] : []),
    ...(options.undici ? [undici] : []),
    ...(options.grpcPolicies ? [policies] : []),
  ]
  if (alone.length > 0 && !whole) return alone
  const gc: GcResult[] = []
  const collections = engines.map((engine) => ({
    what: `counting garbage collections, ${engine}`,
    measure: async () => {
      gc.push(await countCollections(engine, settings.gc))
      return { gc }
    },
  }))
  const memory = { what: 'memory', measure: async () => ({ tableBytes: await tableBytes(LARGE) }) }
  const usual = [...collections, memory, ...poll, waits, middleware, undici, policies]
  return whole ? [...usual, streams, hearing(nats, settings)] : usual
}

// By a server of its own where none is named; left out where there is none on this machine.
function hearing(address: string | undefined, settings: Settings): Part {
  const measure = async (): Promise<Figures> => {
    if (address !== undefined) return { nats: await measureNats(address, settings.nats) }
    await using server = await startNats()
    return server === undefined ? {} : { nats: await measureNats(server.address, settings.nats) }
  }
  return { what: 'hearing on NATS', measure }
}
