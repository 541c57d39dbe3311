import type { Metadata } from '@grpc/grpc-js'
import type { Balancer } from '../../index.js'
import { BINARY_HEADER } from '../../reports/orca-headers.js'
import type { Backend } from './backend.js'

/** As often as balancers publish reports that come one by one, unless told otherwise, ms. */
export const USUAL_SPACING = 50

/**
 * Reads reports off the trailers of calls. Picks see no more than one of a node each `spacing` ms: so of those that come
 * sooner after one that was read the last is read, when that time is over.
 */
export class TrailerReports {
  readonly #balancer: Balancer<Backend>
  readonly #spacing: number
  readonly #waiting = new Map<Backend, Metadata>()
  #timer: NodeJS.Timeout | undefined

  /** @param spacing ms; 0: all are read at once */
  constructor(balancer: Balancer<Backend>, spacing: number) {
    this.#balancer = balancer
    this.#spacing = spacing
  }

  /** @param now ms, by the process's monotonic clock */
  take(node: Backend, trailers: Metadata, now: number): void {
    if (now - node.readAt >= this.#spacing) {
      this.#waiting.delete(node)
      this.#read(node, trailers, now)
    } else if (trailers.get(BINARY_HEADER).length > 0) {
      this.#waiting.set(node, trailers)
      this.#timer ??= setTimeout(() => this.#readAll(), this.#spacing).unref()
    }
  }

  #read(node: Backend, trailers: Metadata, now: number): void {
    const observed = this.#balancer.observe(node, trailers)
    if (observed !== 'absent') node.readAt = now
  }

  #readAll(): void {
    this.#timer = undefined
    const now = performance.now()
    for (const [node, trailers] of this.#waiting) this.#read(node, trailers, now)
    this.#waiting.clear()
  }
}
