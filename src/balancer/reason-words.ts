import { percent, short } from '../algorithms/explain.js'
import type { OwnReason } from './reasons.js'

/** A reason that does not depend on the algorithm, as a person reads it. Algorithms have words for their own. */
export function wordsFor(reason: OwnReason): string {
  switch (reason.code) {
    case 'maint':
      return 'in maintenance: told by the node'
    case 'drain':
      return 'drains: told by the node'
    case 'down':
      return 'down: told by the node'
    case 'ordered':
      return 'drains: ordered here'
    case 'weight':
      if (reason.isFound) return 'weight 0: by the discovery'
      return reason.isTold ? 'weight 0: told by the node' : "weight 0: by the algorithm's weights"
    case 'ejected':
      return ejectedWords(reason)
    case 'reserve':
      return 'in reserve: others come first, and one of them is used'
    case 'unheard':
      return `nothing is known of its load${pollWords(reason.pollError)}`
    case 'expired':
      return `report is ${duration(reason.age)} old, ttl is ${duration(reason.ttl)}${pollWords(reason.pollError)}`
    case 'full':
      return `at its maxInFlight of ${short(reason.limit)}: ${reason.inFlight} in flight`
    case 'capped':
      return `has had its maxShare of the last picks: ${percent(reason.maxShare * 100)} %`
  }
}

function ejectedWords({ by, remaining, limit }: Extract<OwnReason, { code: 'ejected' }>): string {
  if (by === 'elsewhere') return "ejected by the balancer's own thread"
  const still = remaining === undefined ? 'ejected' : `ejected for ${duration(remaining)} more`
  if (by === 'refused') return `${still}: it refuses connections`
  if (by === 'consecutiveFailures') return `${still}: ${limit ?? 'too many'} failures in a row`
  return `${still}: ${limit === undefined ? 'too many' : `${percent(limit * 100)} % or more`} of its requests failed`
}

function pollWords(error: string | undefined): string {
  return error === undefined ? '' : `; polls fail: ${error}`
}

// Rounded up: what is older than 10 s is not 10 s old.
function duration(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)} ms`
  const seconds = Math.ceil(ms / 1_000)
  return seconds < 600 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
}
