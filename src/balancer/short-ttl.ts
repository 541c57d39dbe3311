import { type Algorithm, ttlOf } from '../algorithms/registry.js'
import { tellsUnasked } from '../poller/transports/kinds.js'
import { warn } from '../warn.js'
import type { PollPlan } from './poll-plan.js'

let warnedOfTtl = false

/** Warns, once, where one slow poll would make all readings expire. */
export function warnOfShortTtl(algorithm: Algorithm, { interval, transport }: PollPlan): void {
  const ttl = ttlOf(algorithm)
  if (transport === undefined || ttl === undefined || ttl >= 2 * interval || warnedOfTtl) return
  // Their readings are as old as they are, whatever the interval.
  if ('kind' in transport && tellsUnasked(transport.kind)) return
  warnedOfTtl = true
  warn(
    `ttl is ${ttl} ms and the poll interval ${interval} ms: one slow poll makes every reading expire and ` +
      `all nodes look alike. Set ttl to at least ${2 * interval} ms, or poll more often.`,
    'IDLEST_SHORT_TTL',
  )
}
