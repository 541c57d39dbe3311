/** No request, or no server. */
export const NONE = -1

/** Requests under way, by number. Numbers are used again, so that memory goes with those under way at once. */
export class Requests {
  /** When each arrived, ms. */
  arrived = new Float64Array(0)
  /** Service time on a core of speed 1, ms. */
  work = new Float64Array(0)
  /** When it reached its server, ms. */
  reached = new Float64Array(0)
  /** When its balancer gives up, ms; Infinity: never, or it has ended. */
  deadline = new Float64Array(0)
  /** Requests at its server when it got there, itself not counted. */
  found = new Int32Array(0)
  balancer = new Int32Array(0)
  server = new Int32Array(0)
  /** The one behind it in its server's queue, or in the list of free numbers. */
  next = new Int32Array(0)
  /** 1 once its balancer has its end. */
  ended = new Uint8Array(0)
  /** 1 where the server's answer is an error. */
  failed = new Uint8Array(0)
  #free = NONE

  /** A number for a new request. */
  take(): number {
    if (this.#free === NONE) this.#grow()
    const request = this.#free
    this.#free = this.next[request] as number
    this.next[request] = NONE
    this.ended[request] = 0
    this.failed[request] = 0
    return request
  }

  /** Gives the number back. */
  release(request: number): void {
    this.next[request] = this.#free
    this.#free = request
  }

  #grow(): void {
    const from = this.work.length
    const length = Math.max(1024, from * 2)
    for (const name of ['arrived', 'work', 'reached', 'deadline'] as const) {
      const longer = new Float64Array(length)
      longer.set(this[name])
      this[name] = longer
    }
    for (const name of ['found', 'balancer', 'server', 'next'] as const) {
      const longer = new Int32Array(length)
      longer.set(this[name])
      this[name] = longer
    }
    for (const name of ['ended', 'failed'] as const) {
      const longer = new Uint8Array(length)
      longer.set(this[name])
      this[name] = longer
    }
    for (let request = length - 1; request >= from; request--) this.release(request)
  }
}
