import { percent, short } from '../algorithms/explain.js'
import type { Reason } from './reasons.js'

/** A reason why a member is not picked, as a person reads it. */
export function wordsFor(reason: Reason): string {
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
    case 'band':
      return `outside the band: ${percent(reason.load)} % against ${percent(reason.least)} % + ${percent(reason.threshold)}`
    case 'busy':
      return `no CPU to spare${reason.cpu === undefined ? '' : `: ${percent(reason.cpu)} %`}`
    case 'outdone':
      return `more loaded than whoever it is compared with${reason.load === undefined ? '' : `: ${short(reason.load)}`}`
    case 'full':
      return `at its maxInFlight of ${short(reason.limit)}: ${reason.inFlight} in flight`
    case 'capped':
      return `has had its maxShare of the last picks: ${percent(reason.maxShare * 100)} %`
    case 'remote':
      return 'the local node takes all'
    case 'keyless':
      return 'no key falls to it'
    case 'shareless':
      return 'the algorithm gives it no share'
  }
}

function ejectedWords({ by, remaining, limit }: Extract<Reason, { code: 'ejected' }>): string {
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
