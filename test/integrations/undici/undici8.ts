// undici 8, where this Node.js can run it, and what stands in for it elsewhere.
import { EventEmitter } from 'node:events'
import test, { type Implementation } from 'ava'
import { type Dispatcher, errors, Pool } from 'undici/index.js'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const isNewEnough = process.versions.bun === undefined && (major > 22 || (major === 22 && minor >= 19))

/** A test with undici 8. Skipped where Node.js is older than it needs, which the title then says. */
export function testWithUndici8(title: string, run: Implementation<[]>): void {
  if (isNewEnough) test(title, run)
  else test.skip(`${title} (undici 8 needs Node.js 22.19; this is ${process.versions.node})`, run)
}

/** A pool that takes handlers as one of undici 8 does: only those with controllers, of which it calls nothing else. */
export class ControllersOnly extends EventEmitter {
  readonly #pool: Pool

  constructor(origin: string, options?: Pool.Options) {
    super()
    this.#pool = new Pool(origin, options)
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (typeof handler.onRequestStart !== 'function') {
      throw new errors.InvalidArgumentError('invalid onRequestStart method')
    }
    return this.#pool.dispatch(options, {
      onRequestStart: (...given) => handler.onRequestStart?.(...given),
      onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
      onResponseStart: (...given) => handler.onResponseStart?.(...given),
      onResponseData: (...given) => handler.onResponseData?.(...given),
      onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
      onResponseError: (...given) => handler.onResponseError?.(...given),
    })
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  destroy(): Promise<void> {
    return this.#pool.destroy()
  }
}
