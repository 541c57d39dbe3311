import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import * as v from 'valibot'
import { IdlestError, OptionError } from '../../errors.js'
import type { PollEvent } from '../../index.js'
import { whole } from '../../options.js'
import { BALANCER, ERROR_TYPE } from './catalogue.js'
import { type Attributes, Observer, type Point, type Watchable } from './observer.js'

/** What stops the metrics of a balancer. */
export interface Watch extends Disposable {
  /** Stops at once. Where the balancer is closed, its metrics stop by themselves after they were read once more. */
  close(): void
}

/** How many nodes have series of their own by default. */
export const maxNodesOption = v.optional(whole(0, 100_000), 100)

export interface WatchedOptions {
  /** A poll cycle has ended, after so many seconds. */
  readonly onPoll: (seconds: number, attributes: Attributes) => void
  /** Nothing more is told of a balancer. */
  readonly onLeft?: ((name: string) => void) | undefined
}

/** Where node:diagnostics_channel tells of the ends of poll cycles. */
const POLL_END = 'tracing:idlest:poll:end'

/** All balancers whose metrics go to one place. */
export class WatchedBalancers {
  readonly #options: WatchedOptions
  readonly #watched = new Map<string, { readonly balancer: Watchable; readonly observer: Observer }>()

  #observing: Promise<readonly Point[]> | undefined

  constructor(options: WatchedOptions) {
    this.#options = options
  }

  /** Throws OptionError for what is no balancer, and where one of the same name is watched. */
  add(balancer: Watchable, maxNodes: number): Watch {
    const { name } = checkBalancer(balancer)
    if (this.#watched.get(name)?.balancer.closed) this.#remove(name)
    if (this.#watched.has(name)) {
      throw new OptionError('balancer', name, 'a balancer whose name no other has that is watched already')
    }
    const watched = { balancer, observer: new Observer(balancer, maxNodes) }
    if (this.#watched.size === 0) subscribe(POLL_END, this.#onPoll)
    this.#watched.set(name, watched)
    const close = () => {
      if (this.#watched.get(name) === watched) this.#remove(name)
    }
    return { close, [Symbol.dispose]: close }
  }

  /**
   * Looks at all of them, over many turns of the event loop where there are thousands of nodes. Those that have been closed
   * were looked at for the last time. All who ask while it looks get the same.
   */
  observe(): Promise<readonly Point[]> {
    this.#observing ??= this.#observe().finally(() => {
      this.#observing = undefined
    })
    return this.#observing
  }

  async #observe(): Promise<readonly Point[]> {
    const points: Point[] = []
    for (const [name, watched] of [...this.#watched]) {
      const { closed } = watched.balancer
      const observed = await watched.observer.observe()
      // It may have been let go of meanwhile.
      if (this.#watched.get(name) !== watched) continue
      for (const point of observed) points.push(point)
      if (closed) this.#remove(name)
    }
    return points
  }

  #remove(name: string): void {
    this.#watched.delete(name)
    if (this.#watched.size === 0) unsubscribe(POLL_END, this.#onPoll)
    this.#options.onLeft?.(name)
  }

  readonly #onPoll = (message: unknown): void => {
    const { balancer, duration, error } = message as PollEvent
    const code = error instanceof IdlestError ? error.code : undefined
    // What a close has cut short says nothing.
    if (!this.#watched.has(balancer) || duration === undefined || code === 'IDLEST_CLOSED') return
    const name = { [BALANCER]: balancer }
    this.#options.onPoll(
      duration / 1_000,
      error === undefined ? name : { ...name, [ERROR_TYPE]: code ?? '_OTHER' },
    )
  }
}

function checkBalancer(value: Watchable): Watchable {
  const isBalancer =
    typeof value === 'object' &&
    value !== null &&
    typeof value.stats === 'function' &&
    typeof value.snapshotParts === 'function'
  if (!isBalancer)
    throw new OptionError('balancer', value, 'a balancer, from createBalancer() or attachBalancer()')
  return value
}
