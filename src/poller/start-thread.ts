import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { reasonOf } from '../errors.js'
import { hasModuleUrl, isBundled, ownUrl } from '../own-package.js'
import { VERSION } from '../version.js'
import { budgetWith, type HeldLookups } from './lookup-budget.js'
import type { FromWorker, ToWorker } from './protocol.js'
import { RemotePollers } from './remote-pollers.js'

/** What a host needs of a polling thread. */
export interface WorkerLike {
  on(event: 'message', listener: (message: FromWorker) => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'exit', listener: (code: number) => void): unknown
  postMessage(message: ToWorker): void
  terminate(): Promise<number>
  unref(): void
}

// Preloads are for the application: they would be loaded a second time, and a loader of sources slows the start.
const PRELOADS = /^(-r|--require|--import|--loader|--experimental-loader|--input-type)(=|$)/

// What connections go by. Not all flags may be given to a thread, so those that matter are named.
const OF_CONNECTIONS =
  /^--(dns-result-order|tls-(min|max)-v[\d.]+|max-http-header-size|insecure-http-parser|(no-)?network-family-autoselection[\w-]*)(=|$)/

/**
 * The flags of a polling thread; undefined: those of its process.
 * @param flags of the process
 */
export function threadFlags(flags: readonly string[]): string[] | undefined {
  if (!flags.some((flag) => PRELOADS.test(flag))) return undefined
  return flags.flatMap((flag, i) => {
    if (!OF_CONNECTIONS.test(flag)) return []
    const next = flags[i + 1]
    const isValue = !flag.includes('=') && next !== undefined && !next.startsWith('-')
    return isValue ? [flag, next] : [flag]
  })
}

// What answers leave behind lives shortly; without a limit V8 lets it take tens of megabytes of each polling thread before it
// is collected. The default limits hold for all else.
const YOUNG_GENERATION = 8

/** What a polling thread is started with. */
export interface ThreadData extends HeldLookups {
  /** The version of idlest that starts it. */
  readonly idlest: string
}

const OTHER_VERSION = 'IDLEST_OTHER_VERSION'

/**
 * Ends the polling thread where another version of idlest starts it: the program beside a bundle may be older or newer than
 * the bundle, and what the two post to each other may differ.
 * @param data what the thread was started with; undefined in a thread that a test starts
 */
export function checkThreadData(data: Partial<ThreadData> | null | undefined): void {
  const { idlest = VERSION } = data ?? {}
  if (idlest === VERSION) return
  const message =
    `its program polling-thread.js is of idlest ${VERSION}, and the bundle beside it of idlest ${idlest}: ` +
    'build both from the same version'
  throw Object.assign(new Error(message), { code: OTHER_VERSION })
}

/** Starts a polling thread. @throws what Node.js throws where it may not, or its program is known not to be there */
export function startThread(): WorkerLike {
  const heldLookups = new SharedArrayBuffer(4)
  const budget = budgetWith(heldLookups)
  const thread = newThread({ idlest: VERSION, heldLookups })
  thread.on('exit', () => budget.giveBackAll())
  return thread
}

function newThread(workerData: ThreadData): Worker {
  const execArgv = threadFlags(process.execArgv)
  const options = {
    name: 'idlest-poll',
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION },
    ...(execArgv !== undefined && { execArgv }),
  }
  if (isBundled()) {
    const program = besideBundle()
    if (program !== undefined) return new Worker(program, options)
    if (!hasModuleUrl) {
      throw Object.assign(new Error('no program of the polling thread'), { code: 'MODULE_NOT_FOUND' })
    }
  }
  // As it stands here, some bundlers see it and take the program along.
  return new Worker(new URL('./polling-thread.js', import.meta.url), options)
}

function besideBundle(): URL | undefined {
  return ['js', 'mjs', 'cjs']
    .map((suffix) => new URL(`./polling-thread.${suffix}`, ownUrl()))
    .find((program) => existsSync(program))
}

/**
 * Why there will be no polling thread however often it is tried, and what can be done about it; undefined where an error
 * says no such thing.
 */
export function noThreadFor(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ERR_ACCESS_DENIED') return 'it may start no thread: run node with --allow-worker'
  if (code === OTHER_VERSION) return reasonOf(error)
  // Deno gives no code.
  const isMissing = code === undefined && /^Cannot find module '.*polling-thread/.test(reasonOf(error))
  if (!isMissing && code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') return undefined
  return (
    'the program of its polling thread is not there. In a bundle, make idlest/polling-thread an entry of its own, ' +
    'beside the other one and named polling-thread.js; or leave idlest out of the bundle'
  )
}

/** Does what a polling thread does on the thread that it is made on. */
export class ThreadStandIn implements WorkerLike {
  #onMessage: (message: FromWorker) => void = () => {}
  readonly #pollers = new RemotePollers((message) => this.#onMessage(message))
  #ended = false

  on(event: 'message' | 'error' | 'exit', listener: (given: never) => void): void {
    if (event === 'message') this.#onMessage = listener as (message: FromWorker) => void
  }

  // In a turn of its own, as threads have it.
  postMessage(message: ToWorker): void {
    setImmediate(() => {
      if (!this.#ended) this.#pollers.take(message)
    })
  }

  async terminate(): Promise<number> {
    this.#ended = true
    this.#pollers.close()
    return 0
  }

  unref(): void {}
}
