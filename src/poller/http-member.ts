import type { Clock } from '../clock.js'
import {
  BINARY_HEADER,
  FORMAT_HEADER,
  type HeaderForm,
  REPORT_HEADER,
  readOrcaBinaryHeader,
  readOrcaHeader,
} from '../reports/orca-headers.js'
import { readOrcaJson } from '../reports/orca-json.js'
import type { Answer } from './answer.js'
import type { AnswerHeaders, HttpReading } from './http-exchange.js'
import { HttpNode } from './http-node.js'
import type { PlacedMember } from './member.js'
import type { MakerContext, MemberMaker } from './member-makers.js'
import { SecureContexts } from './secure-contexts.js'
import type { Place } from './store.js'
import type { HttpTarget } from './transports/http.js'

/** Longest body of a report, bytes. */
const BODY_LIMIT = 65_536

// A header that stands several times is two reports, or half of one.
function single(name: string, value: string | string[]): string {
  if (typeof value === 'string') return value
  throw new Error(`the header ${name} stands ${value.length} times`)
}

function readHeaders(headers: AnswerHeaders, at: number): Answer | undefined {
  const binary = headers[BINARY_HEADER]
  if (binary !== undefined) {
    return { kind: 'report', report: readOrcaBinaryHeader(single(BINARY_HEADER, binary)), at }
  }
  const text = headers[REPORT_HEADER]
  if (text === undefined) return undefined
  return { kind: 'report', report: readOrcaHeader(single(REPORT_HEADER, text)), at }
}

/** How reports in ORCA's forms are asked for and read. */
export function orcaReading(format: HeaderForm | undefined): HttpReading {
  return {
    headers: {
      accept: 'application/json',
      ...(format === undefined ? {} : { [FORMAT_HEADER]: format }),
    },
    bodyLimit: BODY_LIMIT,
    readHeaders,
    readBody: (body, at) => ({ kind: 'report', report: readOrcaJson(body), at }),
  }
}

/** A node that is asked over HTTP, with its slot. */
class HttpMember extends HttpNode implements PlacedMember {
  readonly id: string
  readonly slot: number
  readonly generation: number

  constructor(target: HttpTarget, place: Place, contexts: SecureContexts, now: () => number) {
    super(target, orcaReading(target.format), contexts, now)
    this.id = target.id
    this.slot = place.slot
    this.generation = place.generation
  }
}

/** Makes the HTTP members of one poller; they share TLS contexts. */
export class HttpMembers implements MemberMaker<HttpTarget> {
  readonly #contexts = new SecureContexts()
  readonly #clock: Clock

  constructor({ clock }: MakerContext) {
    this.#clock = clock
  }

  make(target: HttpTarget, place: Place): PlacedMember {
    return new HttpMember(target, place, this.#contexts, () => this.#clock.now())
  }
}
