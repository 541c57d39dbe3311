import type { Buffer } from 'node:buffer'
import type { ServedRequest } from '../traffic.js'

/** What is needed of the metadata of @grpc/grpc-js. */
export interface GrpcMetadataLike<M> {
  /** Gives a key one value, of bytes where the key ends in `-bin`. */
  set(key: string, value: Buffer): void
  /** A copy that may be changed. */
  clone(): M
}

/** How a call ends. */
export interface GrpcStatusLike<M> {
  /** The status code, 0 for OK. */
  code: number
  /** What went wrong, in words. */
  details: string
  /** The trailer metadata. */
  metadata?: M | null | undefined
}

/** What hears of a call as it comes in. */
export interface GrpcListenerLike<M> {
  /** The header metadata came. */
  onReceiveMetadata(metadata: M): void
  /** A message came. */
  onReceiveMessage(message: unknown): void
  /** The client sends no more messages. */
  onReceiveHalfClose(): void
  /** The client gave the call up. */
  onCancel(): void
}

/** What is needed of a call. */
export interface GrpcCallLike<M = never> {
  /** When the call ends at the latest. */
  getDeadline(): Date | number
  /** Starts the call. */
  start(listener: GrpcListenerLike<M>): void
  /** Sends the header metadata. */
  sendMetadata(metadata: M): void
  /** Sends a message to the client. */
  sendMessage(message: unknown, callback: () => void): void
  /** Ends the call, with the trailer metadata. */
  sendStatus(status: GrpcStatusLike<M>): void
}

/** What counts a call. */
export interface CallCounter<C, M> {
  begin(): ServedRequest
  /** The status to send in place of the handler's. */
  statusOf(path: string, call: C, status: GrpcStatusLike<M>): GrpcStatusLike<M>
}

/** Makes a call that counts and passes on all that another one hears and says. */
export type CountedCallClass = new <C extends GrpcCallLike<M>, M>(
  call: C,
  path: string,
  counter: CallCounter<C, M>,
) => GrpcCallLike<M>

type BaseClass = new (call: unknown) => object

// A client gives up at its deadline too, and its word may come a little before the server's own time is over, ms.
const DEADLINE_SLACK = 100

// Of gRPC's statuses.
const OK = 0

const made = new WeakMap<object, CountedCallClass>()

/**
 * The class of counted calls, one for each module of gRPC.
 * @param base its `ServerInterceptingCall`
 */
export function countedCallClass(base: object): CountedCallClass {
  let counted = made.get(base)
  if (counted === undefined) {
    counted = extend(base as BaseClass)
    made.set(base, counted)
  }
  return counted
}

// Stands between a call and what hears of it. Were functions given to a ServerInterceptingCall instead, as interceptors are
// usually made, all that comes in and goes out would pass several more of them, most made for the one call.
function extend(base: BaseClass): CountedCallClass {
  return class CountedCall<C extends GrpcCallLike<M>, M> extends base implements GrpcListenerLike<M> {
    readonly #call: C
    readonly #path: string
    readonly #counter: CallCounter<C, M>
    readonly #request: ServedRequest
    #listener: GrpcListenerLike<M> | undefined
    #sent = false

    constructor(call: C, path: string, counter: CallCounter<C, M>) {
      super(call)
      this.#call = call
      this.#path = path
      this.#counter = counter
      this.#request = counter.begin()
    }

    getDeadline(): Date | number {
      return this.#call.getDeadline()
    }

    start(listener: GrpcListenerLike<M>): void {
      this.#listener = listener
      this.#call.start(this)
    }

    onReceiveMetadata(metadata: M): void {
      this.#listener?.onReceiveMetadata(metadata)
    }

    onReceiveMessage(message: unknown): void {
      this.#listener?.onReceiveMessage(message)
    }

    onReceiveHalfClose(): void {
      this.#listener?.onReceiveHalfClose()
    }

    // Called at the end of each call.
    onCancel(): void {
      if (!this.#sent) {
        // It took at least that long.
        const late = Number(this.#call.getDeadline()) - Date.now() <= DEADLINE_SLACK
        this.#request.end(late, late)
      }
      this.#listener?.onCancel()
    }

    sendMetadata(metadata: M): void {
      this.#call.sendMetadata(metadata)
    }

    sendMessage(message: unknown, callback: () => void): void {
      this.#call.sendMessage(message, callback)
    }

    sendStatus(status: GrpcStatusLike<M>): void {
      this.#sent = true
      this.#request.end(status.code !== OK)
      this.#call.sendStatus(this.#counter.statusOf(this.#path, this.#call, status))
    }
  }
}
