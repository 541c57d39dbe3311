import { BadReportError, shown } from '../errors.js'
import { MOST_WEIGHT, type NodeState } from '../report.js'
import { MAX_REPORT } from './orca-fields.js'
import { MAX_VALUE } from './values.js'

/** The largest weight of a server in HAProxy. */
const MAX_WEIGHT = 256
// Above this any weight but 0 comes to the largest.
const MAX_PERCENT = MOST_WEIGHT
// HAProxy keeps it in a C int.
const MAX_MAXCONN = 2 ** 31 - 1

/** What a line of HAProxy's agent-check says. What it leaves out stays as it was. */
export interface AgentCheckReply {
  /** What the operator wants: work (`ready`), none but what sessions are bound to it (`drain`), none at all (`maint`). */
  admin?: 'ready' | 'drain' | 'maint'
  /** `stopped` and `fail` are `down`. */
  health?: 'up' | 'down'
  /** Percent of the configured weight, 0-25,600; a larger one counts as this. Never beside `weight`. */
  percent?: number
  /** The weight itself, 0-256. */
  weight?: number
  /** Most requests at once, 0-1e12; 0: no limit. */
  maxconn?: number
  /** What follows a #, as a person may read it. HAProxy shows it where a health is said too. */
  description?: string
  /** The words that mean nothing: the first 16, each up to 64 characters of it. */
  readonly unknown: readonly string[]
  /** Words that mean something but hold a wrong value, each with what would be right; nothing changes by them. */
  readonly errors: readonly string[]
}

// Of words that mean nothing, so many and so much of each are told: a reply may be full of them.
const MAX_UNKNOWN = 16
const MAX_WORD = 64

const HEALTHS: ReadonlyMap<string, 'up' | 'down'> = new Map([
  ['up', 'up'],
  ['down', 'down'],
  ['stopped', 'down'],
  ['fail', 'down'],
])
const ADMINS: ReadonlyMap<string, 'ready' | 'drain' | 'maint'> = new Map([
  ['ready', 'ready'],
  ['drain', 'drain'],
  ['maint', 'maint'],
])
const WEIGHT = 'weight:'
const MAXCONN = 'maxconn:'

// Numbers may have a sign, as C reads them.
const RELATIVE = /^([+-]?\d+)%$/
const ABSOLUTE = /^[+-]?\d+$/

function readWeight(word: string, reply: AgentCheckReply): string | undefined {
  const text = word.toLowerCase().startsWith(WEIGHT) ? word.slice(WEIGHT.length) : word
  const [, relative] = RELATIVE.exec(text) ?? []
  if (relative !== undefined) {
    const percent = Number(relative)
    if (percent < 0) return `${shown(word)}: expected a whole percentage of at least 0`
    reply.percent = Math.min(percent, MAX_PERCENT) + 0
  } else {
    const weight = Number(text)
    if (!ABSOLUTE.test(text) || weight < 0 || weight > MAX_WEIGHT) {
      return `${shown(word)}: expected a whole percentage, or ${WEIGHT} and a whole number from 0 to ${MAX_WEIGHT}`
    }
    reply.weight = weight + 0
  }
  return undefined
}

function readMaxconn(word: string, reply: AgentCheckReply): string | undefined {
  const text = word.slice(MAXCONN.length)
  const maxconn = Number(text)
  if (!ABSOLUTE.test(text) || maxconn < 0 || maxconn > MAX_VALUE) {
    return `${shown(word)}: expected a whole number from 0 to ${MAX_VALUE}`
  }
  reply.maxconn = maxconn + 0
  return undefined
}

/** The first line without its end; undefined where it does not end. */
function firstLine(reply: string | Uint8Array): string | undefined {
  if (reply.length > MAX_REPORT) throw new BadReportError('', reply, `a line within ${MAX_REPORT} characters`)
  const text = typeof reply === 'string' ? reply : Buffer.from(reply).toString('utf8')
  const end = text.search(/[\r\n\0]/)
  return end < 0 ? undefined : text.slice(0, end)
}

/**
 * Reads a reply to HAProxy's agent-check, as HAProxy reads it: one line, ended by the first CR, LF or NUL, of words in
 * any order and any case, separated by spaces, tabs or commas. `up`, `down`, `stopped` and `fail` are health; `ready`,
 * `drain` and `maint` are for the operator; `75%`, `weight:40` and `weight:75%` are weight; `maxconn:30` is a limit. In
 * each of the four the last word counts, also where it is the wrong one. A # that begins a word begins a description.
 * @returns undefined for a reply without an end of its line, which is to be ignored
 * @throws BadReportError for a reply longer than 64 KiB; wrong words are told in the reply's `unknown` and `errors`
 */
export function readAgentCheck(reply: string | Uint8Array): AgentCheckReply | undefined {
  const line = firstLine(reply)
  if (line === undefined) return undefined
  const sharp = line.search(/(?<![^ \t,])#/)
  const words = sharp < 0 ? line : line.slice(0, sharp)
  const description = sharp < 0 ? '' : line.slice(sharp + 1).replace(/^[ \t]+/, '')

  const unknown: string[] = []
  const read: AgentCheckReply = { unknown, errors: [] }
  if (description !== '') read.description = description
  let weight: string | undefined
  let maxconn: string | undefined
  for (const word of words.split(/[ \t,]+/)) {
    const lower = word.toLowerCase()
    const health = HEALTHS.get(lower)
    const admin = ADMINS.get(lower)
    if (word === '') continue
    if (health !== undefined) read.health = health
    else if (admin !== undefined) read.admin = admin
    else if (lower.startsWith(WEIGHT) || (/^\d/.test(word) && word.includes('%'))) weight = word
    else if (lower.startsWith(MAXCONN)) maxconn = word
    else if (unknown.length < MAX_UNKNOWN) unknown.push(word.slice(0, MAX_WORD))
  }
  const errors = [
    weight === undefined ? undefined : readWeight(weight, read),
    maxconn === undefined ? undefined : readMaxconn(maxconn, read),
  ].filter((error) => error !== undefined)
  return { ...read, errors }
}

/**
 * The weight that HAProxy gives a server by such a reply: `floor(initialWeight * percent / 100)`, at most 256, or the
 * weight itself; undefined where it stays as it is.
 * @param initialWeight the configured weight, 0-256; a percentage is always of this one, not of the weight at present
 */
export function haproxyWeight(reply: AgentCheckReply, initialWeight: number): number | undefined {
  if (reply.percent === undefined) return reply.weight
  return Math.min(MAX_WEIGHT, Math.floor((initialWeight * reply.percent) / 100))
}

/** What an agent tells HAProxy. */
export interface AgentCheckState {
  readonly state: NodeState
  /** Percent of the configured weight, 0-25,600; a larger one counts as this. Undefined: no load is known, and HAProxy keeps its weight. */
  readonly percent?: number | undefined
  /** Most requests at once, at least 0; 0: no limit. */
  readonly maxInFlight?: number | undefined
}

const WORDS: Readonly<Record<NodeState, string>> = {
  up: 'ready up',
  drain: 'drain up',
  maint: 'maint up',
  down: 'ready down',
}

/**
 * Writes a reply to HAProxy's agent-check, the whole state each time since HAProxy keeps what is left out:
 * `ready up 73% maxconn:30` and a line end. The percentage is rounded, but to at least 1 unless the node drains or is in
 * maintenance: 0 % would take it out of use for having been busy once. A limit is rounded, to at least 1 unless it is 0.
 * Either is left out where it is undefined.
 */
export function writeAgentCheck({ state, percent, maxInFlight }: AgentCheckState): string {
  let reply = WORDS[state]
  if (percent !== undefined) {
    const least = state === 'drain' || state === 'maint' ? 0 : 1
    reply += ` ${Math.max(least, Math.round(Math.min(percent, MAX_PERCENT)))}%`
  }
  if (maxInFlight !== undefined) {
    const limit = maxInFlight === 0 ? 0 : Math.min(MAX_MAXCONN, Math.max(1, Math.round(maxInFlight)))
    reply += ` maxconn:${limit}`
  }
  return `${reply}\n`
}
