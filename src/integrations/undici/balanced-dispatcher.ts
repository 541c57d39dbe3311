import type { NodeLike } from '../../index.js'
import { Agent, Dispatcher, errors, Pool } from '../../undici.js'
import { handlerFor } from './bridge.js'
import type { Call } from './call.js'
import { type CallCounters, Caller } from './caller.js'
import { watchConnections } from './connections.js'
import { ControllerCall } from './controller-call.js'
import { checkHandler, hasController, refuse } from './handlers.js'
import { LegacyCall } from './legacy-call.js'
import {
  type BalancedDispatcherOptions,
  type CallBalancer,
  checkBalancer,
  checkMade,
  checkPool,
  originOf,
  settingsOf,
} from './options.js'
import { Upstreams } from './upstreams.js'

type Done = (error: Error | null, data: null) => void

/** What a dispatcher has done so far, and how many nodes it has something open to. */
export interface BalancedDispatcherStats extends CallCounters {
  /** Nodes that there are dispatchers for. */
  upstreams: number
}

/** `BalancedDispatcher`, with the types of the undici that idlest has. */
export class BalancedDispatcher<N extends NodeLike = NodeLike> extends Dispatcher {
  // Not by `#`: `compose` gives a proxy, whose methods are called with the proxy as `this`.
  private readonly caller: Caller<N>
  private readonly upstreams: Upstreams<N>
  private readonly origins: ReadonlySet<string> | undefined
  private otherwise: Dispatcher | undefined
  // Whether it is the user's to close.
  private readonly isLent: boolean
  private needsDrain = false
  private closing: Promise<void> | undefined
  private destroying: Promise<void> | undefined

  /**
   * @param balancer stays the caller's: it is not closed with this
   *
   * @throws OptionError
   */
  constructor(balancer: CallBalancer<N>, options: BalancedDispatcherOptions<N> = {}) {
    super()
    checkBalancer(balancer)
    const settings = settingsOf(options)
    const { origins = httpOrigin, factory = makePool, pool = {}, otherwise } = settings
    if (settings.factory === undefined && settings.pool !== undefined) checkPool(settings.pool)
    watchConnections()
    this.upstreams = new Upstreams<N>({
      originOf: (node) => originOf('origins', origins(node)),
      make: (origin, node) => checkMade(factory(origin, pool, node)),
      events: {
        connect: (origin, targets) => this.emit('connect', origin, [this, ...targets]),
        disconnect: (origin, targets, error) =>
          this.emit('disconnect', origin, [this, ...targets], error as errors.UndiciError),
        connectionError: (origin, targets, error) =>
          this.emit('connectionError', origin, [this, ...targets], error as errors.UndiciError),
        drain: (origin) => this.drained(origin),
      },
    })
    // A node that joins later counts as one that can't be connected to when it is first picked.
    if (settings.origins === undefined) for (const node of balancer.nodes) originOf('origins', origins(node))
    this.caller = new Caller(balancer, this.upstreams, settings)
    if (settings.for !== undefined) {
      this.origins = new Set([settings.for].flat().map((origin) => originOf('for', origin)))
    }
    this.otherwise = otherwise
    this.isLent = otherwise !== undefined
  }

  /** What JSON has of it: not its connections, whose options have TLS keys. */
  toJSON(): object {
    const { closed, destroyed } = this
    return { ...this.stats, closed, destroyed }
  }

  /** What `console.log` shows: the same. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    return this.toJSON()
  }

  /** Whether it takes no more requests. */
  get closed(): boolean {
    return this.closing !== undefined
  }

  /** Whether what was under way was ended too. */
  get destroyed(): boolean {
    return this.destroying !== undefined
  }

  /** Counters since it was made, and how many nodes there are dispatchers for. */
  get stats(): BalancedDispatcherStats {
    const { counters } = this.caller
    return { ...counters, failures: { ...counters.failures }, upstreams: this.upstreams.size }
  }

  /**
   * Sends a request. Errors are told to the handler: those of undici's, and of the balancer's where it has no node.
   * Returns false where no node that may be picked would begin with another one now, until 'drain' is emitted, and where
   * it takes none.
   */
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (typeof handler !== 'object' || handler === null) {
      throw new errors.InvalidArgumentError('handler must be an object')
    }
    try {
      if (typeof options !== 'object' || options === null) {
        throw new errors.InvalidArgumentError('opts must be an object.')
      }
      if (this.destroyed) throw new errors.ClientDestroyedError()
      if (this.closed) throw new errors.ClientClosedError()
      checkHandler(handler, options)
      if (!this.isBalanced(options.origin)) {
        const elsewhere = this.elsewhere()
        return elsewhere.dispatch(options, handlerFor(elsewhere, handler))
      }
    } catch (error) {
      refuse(handler, error)
      return false
    }
    this.begin(options, handler)
    return this.isFree()
  }

  /** Takes no more requests, and ends when those under way have. */
  override close(): Promise<void>
  /** The same, with a callback. */
  override close(done: () => void): void
  override close(done?: Done): Promise<void> | undefined {
    checkCallback(done)
    const closing =
      this.destroying === undefined ? this.shut() : Promise.reject(new errors.ClientDestroyedError())
    return answer(closing, done)
  }

  /** Takes no more requests, and ends those under way with an error: default ClientDestroyedError. */
  override destroy(): Promise<void>
  /** The same, with another error. */
  override destroy(error: Error | null): Promise<void>
  /** The same, with a callback. */
  override destroy(done: () => void): void
  /** The same, with another error and a callback. */
  override destroy(error: Error | null, done: () => void): void
  override destroy(given?: Error | null | Done, callback?: Done): Promise<void> | undefined {
    const [error, done] = typeof given === 'function' ? [null, given] : [given ?? null, callback]
    checkCallback(done)
    return answer(this.end(error), done)
  }

  private begin(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const caller = this.caller
    try {
      this.upstreams.follow(caller.balancer.nodes)
      const lease = caller.place(options)
      const call: Call<N> = hasController(handler)
        ? new ControllerCall(caller, options, handler)
        : new LegacyCall(caller, options, handler)
      call.begin(lease)
    } catch (error) {
      caller.counters.unplaced++
      refuse(handler, error)
    }
  }

  private isBalanced(origin: string | URL | undefined): boolean {
    if (this.origins === undefined || origin === undefined) return true
    const text = String(origin)
    return this.origins.has(text) || (URL.canParse(text) && this.origins.has(new URL(text).origin))
  }

  private elsewhere(): Dispatcher {
    this.otherwise ??= new Agent()
    return this.otherwise
  }

  private isFree(): boolean {
    if (!this.upstreams.areBusy(this.caller.balancer.available)) return true
    this.needsDrain = true
    return false
  }

  private drained(origin: URL): void {
    if (!this.needsDrain) return
    this.needsDrain = false
    this.emit('drain', origin)
  }

  private shut(): Promise<void> {
    this.closing ??= this.finish()
    return this.closing
  }

  private async finish(): Promise<void> {
    this.caller.isClosing = true
    await Promise.all([this.upstreams.close(), this.isLent ? undefined : this.otherwise?.close()])
    await this.end(null)
  }

  private end(given: Error | null): Promise<void> {
    const error = given ?? new errors.ClientDestroyedError()
    this.caller.isClosing = true
    this.caller.isDestroyed = true
    this.destroying ??= Promise.all([
      this.upstreams.destroy(error),
      this.isLent ? undefined : this.otherwise?.destroy(error),
    ]).then(() => undefined)
    return this.destroying
  }
}

function httpOrigin(node: NodeLike): string {
  const id = typeof node === 'string' ? node : node.id
  return /^https?:\/\//i.test(id) ? id : `http://${id}`
}

function makePool(origin: string, options: Pool.Options): Dispatcher {
  return new Pool(origin, options)
}

function checkCallback(callback: unknown): void {
  if (callback !== undefined && typeof callback !== 'function') {
    throw new errors.InvalidArgumentError('invalid callback')
  }
}

// As undici has it: by a callback, or by a promise where there is none.
function answer(done: Promise<void>, callback: Done | undefined): Promise<void> | undefined {
  if (callback === undefined) return done
  done.then(
    () => callback(null, null),
    (error: Error) => callback(error, null),
  )
  return undefined
}
