import type { Balancer } from '../../index.js'
import type { Server } from './servers.js'

/** Decides which server takes a request. */
export interface Policy {
  readonly name: 'round robin' | 'idlest'
  /** Picks a server and sends the request by `send`; rejects as that does. */
  run(send: (server: Server) => Promise<void>): Promise<void>
}

/** In turn. */
export function roundRobin(servers: readonly Server[]): Policy {
  let next = 0
  return {
    name: 'round robin',
    run: (send) => send(servers[next++ % servers.length] as Server),
  }
}

/** By the balancer, which counts the request as in flight until it is answered. */
export function idlest(balancer: Balancer<Server>): Policy {
  return { name: 'idlest', run: (send) => balancer.run(send) }
}
