import { Agent } from '../../undici.js'
import type { Plan } from './plan.js'
import type { Policy } from './policies.js'
import type { PhaseRecord } from './record.js'
import type { Server } from './servers.js'

/** Connections to a server at most; further requests wait here, and their time counts. */
const CONNECTIONS = 256

/** Sends planned requests at their time, whether or not earlier ones are answered. */
export class LoadGenerator {
  // No time-outs: what waits long is to be seen in the latencies.
  readonly #agent = new Agent({ connections: CONNECTIONS, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 })

  /**
   * Sends them all, and resolves when each has ended. Latencies count from the planned time, so that a generator that
   * is late doesn't flatter anyone. Rejects with the signal's reason.
   */
  run(plan: Plan, policy: Policy, record: PhaseRecord, signal: AbortSignal): Promise<void> {
    const { at, work } = plan
    const start = performance.now()
    let next = 0
    let timer: NodeJS.Timeout | undefined
    return new Promise((resolve, reject) => {
      const abort = () => {
        clearTimeout(timer)
        reject(signal.reason)
      }
      const ended = () => {
        if (record.ended < at.length) return
        signal.removeEventListener('abort', abort)
        resolve()
      }
      const send = (i: number) => {
        const planned = at[i] as number
        record.begin(planned, work[i] as number)
        let index = -1
        policy
          .run((server) => {
            index = server.index
            record.picked(index)
            return this.#request(server, work[i] as number)
          })
          .then(
            () => record.answered(index, performance.now() - start - planned),
            (error) => record.failed(error),
          )
          .then(ended)
      }
      const turn = () => {
        const now = performance.now() - start
        while (next < at.length && (at[next] as number) <= now) send(next++)
        if (next < at.length) timer = setTimeout(turn, (at[next] as number) - now)
      }
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) return abort()
      if (at.length === 0) return ended()
      turn()
    })
  }

  /** Breaks all connections off. */
  close(): Promise<void> {
    return this.#agent.destroy()
  }

  async #request(server: Server, work: number): Promise<void> {
    const { statusCode, body } = await this.#agent.request({
      origin: `http://${server.id}`,
      path: `/burn/${work}`,
      method: 'GET',
    })
    await body.dump()
    if (statusCode !== 200) throw new Error(`${server.name} answered with status ${statusCode}`)
  }
}
