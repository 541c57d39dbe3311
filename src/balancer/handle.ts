import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { type Algorithm, isAlgorithm, isKeyed, needsOf } from '../algorithms/registry.js'
import type { EngineName } from '../engine/engine.js'
import { OptionError } from '../errors.js'
import { hasFields } from '../fields.js'
import { milliseconds, whole } from '../options.js'
import type { PlacedTold } from '../poller/told.js'
import type { TableBuffer, TableMemory } from '../table/memory.js'
import type { TableSource } from '../table/table.js'
import { VERSION } from '../version.js'
import { openChannel } from './channel.js'
import type { Member, Place } from './member.js'
import { changeBetween } from './member-changes.js'
import { say } from './news.js'
import { isSameStanding, type PostedStanding, postedStanding, standingOf } from './posted-standing.js'
import { TURN_BYTES } from './shared-turn.js'
import { type TrustSettings, trustOptions } from './trust-options.js'

/** The members of a balancer, as they are posted to other threads. */
export interface PostedMembers {
  /** With their keys, where these are not their ids. */
  readonly places: readonly (Place & { readonly key?: string | undefined })[]
  /** How each of them stands. */
  readonly standings: readonly PostedStanding[]
}

/** What a worker thread needs to pick for a balancer of another thread; post it, then `attachBalancer` it there. */
export interface BalancerHandle {
  /** Says what it is, after it was posted. */
  readonly kind: 'idlest-balancer'
  /** The balancer's name. */
  readonly name: string
  /** @internal The version of idlest that made it. */
  readonly idlest: string
  /** @internal */
  readonly table: TableSource
  /** @internal */
  readonly algorithm: Algorithm
  /** @internal */
  readonly engine: EngineName
  /** @internal Whether the balancer has a clock of its own, which can't be posted. */
  readonly ownClock: boolean
  /** @internal The id of the local node, where the balancer has one. */
  readonly self?: string | undefined
  /** @internal Where turns are taken together, for `roundRobin({ shared: true })`. */
  readonly turns?: TableBuffer | undefined
  /** @internal Least time between two publications of reports that come one by one, ms. */
  readonly coalesce: number
  /** @internal */
  readonly trust: TrustSettings
  /** @internal The channel on which member changes are told. */
  readonly channel: string
  /** @internal One byte: 1 once the balancer is closed, which a thread that attaches after that is not told otherwise. */
  readonly closed: SharedArrayBuffer
  /** @internal How many changes there were before these members. */
  readonly version: number
  /** @internal */
  readonly members: PostedMembers
}

/** What changed of a balancer's members: each change has the number that follows that of the one before. */
export type PostedChange = { readonly version: number } & (
  | { readonly kind: 'change'; readonly runs: Uint32Array; readonly joined: PostedMembers }
  /** Of some members, how they stand now. */
  | { readonly kind: 'standings'; readonly members: PostedMembers }
)

/** What goes over a handle's channel. */
export type HandleMessage =
  | PostedChange
  /** All of the members, after so many changes: for a thread that lacks too many. */
  | { readonly kind: 'members'; readonly version: number; readonly members: PostedMembers }
  | { readonly kind: 'closed' }
  /** From a thread that attached, or missed something: which changes it has. Others may have come on the way. */
  | { readonly kind: 'attached'; readonly version: number }
  /** From a thread that attached: a node told this of itself. */
  | { readonly kind: 'told'; readonly told: PlacedTold }

/** The changes that are kept for threads that attach while members change; and the members that all of them may tell of. */
const MOST_KEPT = 64
const MOST_MEMBERS_KEPT = 256

export interface HandleServerOptions {
  readonly name: string
  readonly table: TableSource
  readonly memory: TableMemory
  readonly algorithm: Algorithm
  readonly engine: EngineName
  readonly ownClock: boolean
  readonly self: string | undefined
  readonly turns: TableBuffer | undefined
  readonly coalesce: number
  readonly trust: TrustSettings
  readonly members: () => readonly Member[]
  /** Their places. */
  readonly places: () => readonly Place[]
  /** Those that may stand in another way than at the last call. */
  readonly takeRestood: () => ReadonlySet<Member>
  readonly onTold: (told: PlacedTold) => void
}

/** Tells the threads that attached to a balancer of its members. */
export class HandleServer {
  readonly #options: HandleServerOptions
  readonly #name = `idlest:${randomUUID()}`
  readonly #channel = openChannel(this.#name)
  readonly #flag = new SharedArrayBuffer(1)
  // As they were told last.
  #places: readonly Place[] = []
  readonly #stood = new Map<Place, PostedStanding>()
  #version = 0
  readonly #kept: PostedChange[] = []
  #membersKept = 0
  #closed = false

  constructor(options: HandleServerOptions) {
    this.#options = options
    this.#channel.onmessage = (event) => {
      const message = (event as { data: HandleMessage }).data
      if (message.kind === 'attached') this.#bringUp(message.version)
      else if (message.kind === 'told') options.onTold(message.told)
    }
  }

  handle(): BalancerHandle {
    // Else the next change would be told of members that these are not.
    this.changed()
    const { name, table, algorithm, engine, ownClock, self, turns, coalesce, trust } = this.#options
    return {
      kind: 'idlest-balancer',
      idlest: VERSION,
      name,
      table,
      algorithm: postable(algorithm),
      engine,
      ownClock,
      self,
      turns,
      coalesce,
      trust,
      channel: this.#name,
      closed: this.#flag,
      version: this.#version,
      members: posted(this.#options.members()),
    }
  }

  /** Tells what has changed of who the members are and how they stand. */
  changed(): void {
    const members = this.#options.members()
    const places = this.#options.places()
    const restood = this.#options.takeRestood()
    const change = changeBetween(this.#places, places)
    this.#places = places
    if (change !== undefined) {
      for (const place of change.left) this.#stood.delete(place)
      const joined = this.#posted(change.joined.map((index) => members[index] as Member))
      this.#tellChange({ kind: 'change', version: this.#version + 1, runs: change.runs, joined })
    }
    const others = [...restood].filter((member) => !isSameStanding(this.#stood.get(member.place), member))
    if (others.length > 0) this.restood(others)
  }

  /** Tells how these members stand now. */
  restood(members: readonly Member[]): void {
    // Those that joined meanwhile, or left, are told of by the change that comes.
    const known = members.filter(({ place }) => this.#stood.has(place))
    if (known.length === 0) return
    this.#tellChange({ kind: 'standings', version: this.#version + 1, members: this.#posted(known) })
  }

  // Notes how they stand, as they are told.
  #posted(members: readonly Member[]): PostedMembers {
    const all = posted(members)
    for (const [i, { place }] of members.entries()) this.#stood.set(place, all.standings[i] as PostedStanding)
    return all
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    Atomics.store(new Uint8Array(this.#flag), 0, 1)
    say(this.#channel, this.#options.memory, { kind: 'closed' })
    this.#channel.close()
  }

  #tellChange(change: PostedChange): void {
    this.#version = change.version
    this.#kept.push(change)
    this.#membersKept += sizeOf(change)
    while (this.#kept.length > MOST_KEPT || this.#membersKept > MOST_MEMBERS_KEPT) {
      this.#membersKept -= sizeOf(this.#kept.shift() as PostedChange)
    }
    this.#tell(change)
  }

  // Those who have what is told again leave it.
  #bringUp(version: number): void {
    const lacks = this.#version - version
    if (lacks <= this.#kept.length) {
      for (const change of this.#kept.slice(this.#kept.length - lacks)) this.#tell(change)
      return
    }
    this.changed()
    this.#tell({ kind: 'members', version: this.#version, members: posted(this.#options.members()) })
  }

  #tell(message: HandleMessage): void {
    if (!this.#closed) say(this.#channel, this.#options.memory, message)
  }
}

// The keys of members are posted with them.
function postable(algorithm: Algorithm): Algorithm {
  if (!isKeyed(algorithm) || algorithm.keyOf === undefined) return algorithm
  const { keyOf, ...rest } = algorithm
  return Object.freeze(rest)
}

function sizeOf(change: PostedChange): number {
  return change.kind === 'change' ? change.joined.places.length : change.members.places.length
}

function posted(members: readonly Member[]): PostedMembers {
  return {
    places: members.map(({ id, key, slot, generation }) => ({
      id,
      ...(key !== id && { key }),
      slot,
      generation,
    })),
    standings: members.map(standingOf),
  }
}

/** Whether the balancer of this handle has been closed. */
export function isClosed({ closed }: BalancerHandle): boolean {
  return Atomics.load(new Uint8Array(closed), 0) === 1
}

const word = whole(0, 0xffffffff)
const shared = v.custom<SharedArrayBuffer>((value) => value instanceof SharedArrayBuffer)

// What is needed to go on where the balancer is.
function isWhole({ algorithm, self, turns }: BalancerHandle): boolean {
  const needs = needsOf(algorithm)
  if (needs.ownThread || (needs.self && self === undefined)) return false
  return turns !== undefined || !needs.turns
}

const handleSchema = v.object({
  kind: v.literal('idlest-balancer'),
  idlest: v.literal(VERSION),
  name: v.string(),
  table: v.union([
    shared,
    v.custom<ArrayBuffer>((value) => value instanceof ArrayBuffer),
    v.object({ kind: v.literal('file'), path: v.string() }),
  ]),
  algorithm: v.custom<Algorithm>(isAlgorithm),
  engine: v.picklist(['native', 'portable']),
  ownClock: v.boolean(),
  self: v.optional(v.string()),
  turns: v.optional(
    v.pipe(
      shared,
      // Of whole words, so that it can be looked at.
      v.check(({ byteLength }) => byteLength >= TURN_BYTES && byteLength % 4 === 0),
    ),
  ),
  coalesce: milliseconds(0),
  trust: v.custom<TrustSettings>((value) => v.is(trustOptions, value)),
  channel: v.string(),
  version: v.pipe(v.number(), v.safeInteger()),
  closed: v.pipe(
    shared,
    v.check(({ byteLength }) => byteLength > 0),
  ),
  members: v.pipe(
    v.object({
      places: v.array(
        v.object({ id: v.string(), key: v.optional(v.string()), slot: word, generation: word }),
      ),
      standings: v.array(postedStanding),
    }),
    v.check(({ places, standings }) => places.length === standings.length),
  ),
})

// The layout of handles, messages and tables may differ between any two versions, so threads need the same one.
function checkVersion(value: unknown): void {
  if (!hasFields(value) || value.kind !== 'idlest-balancer' || value.idlest === VERSION) return
  const found = typeof value.idlest === 'string' ? value.idlest : 'of an unknown version'
  throw new OptionError(
    'handle',
    `a handle of idlest ${found}`,
    `one of idlest ${VERSION}, which this thread runs: install the same version for both threads`,
  )
}

/**
 * Checks that something is a handle, all of it: a wrong slot would be written to. Throws OptionError, which names both
 * versions where another version of idlest made the handle.
 */
export function checkHandle(value: unknown): BalancerHandle {
  checkVersion(value)
  if (v.is(handleSchema, value) && isWhole(value)) {
    return { ...value, trust: v.parse(trustOptions, value.trust) }
  }
  throw new OptionError('handle', value, 'what balancer.handle() returned, posted to this thread')
}
