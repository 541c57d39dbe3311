import type { Clock } from '../clock.js'
import { chooseEngine } from '../engine/load.js'
import { ClosedError, OptionError } from '../errors.js'
import { checkOptions, options } from '../options.js'
import type { PlacedTold } from '../poller/told.js'
import { processClock } from '../process-clock.js'
import { toSeed } from '../seed.js'
import { attachMemory } from '../table/file/open.js'
import { NO_SLOT } from '../table/layout.js'
import { keepLedger } from '../table/own-flights.js'
import type { AttachedBalancer } from './contract.js'
import {
  type BalancerHandle,
  checkHandle,
  type HandleMessage,
  isClosed,
  type PostedChange,
  type PostedMembers,
} from './handle.js'
import type { Member, Place } from './member.js'
import { News } from './news.js'
import { clockOption, engineOption, seedOption } from './options.js'
import { TablePicker } from './picker.js'
import { takeStanding } from './posted-standing.js'

/** Options of `attachBalancer`. */
export interface AttachOptions {
  /** Fixes the sequence of this thread's picks; a whole number from 0 to 2^53 - 1. Default: by chance. */
  seed?: number | undefined
  /** Needed where the balancer has a clock of its own: one that agrees with it. Default: the process's monotonic clock. */
  clock?: Clock | undefined
  /** Default: the balancer's. */
  engine?: 'auto' | 'native' | 'portable' | undefined
}

const attachOptions = options({ seed: seedOption, clock: clockOption, engine: engineOption })

// Members of another thread's balancer: it gives them their places, here they are only known.
class KnownPlaces {
  version = 0
  #places = new Map<string, Place>()

  claimAll(ids: readonly string[]): Place[] {
    return ids.map((id) => this.#places.get(id) ?? { id, slot: NO_SLOT, generation: 0 })
  }

  unclaim(): void {}

  places(): Iterable<Place> {
    return this.#places.values()
  }

  find(id: string): Place | undefined {
    return this.#places.get(id)
  }

  take(places: readonly Place[]): void {
    this.#places = new Map(places.map((place) => [place.id, place]))
    this.version++
  }

  join(places: readonly Place[]): void {
    for (const place of places) this.#places.set(place.id, place)
    this.version++
  }

  leave(places: readonly Place[]): void {
    for (const { id, slot, generation } of places) {
      const known = this.#places.get(id)
      // It may have come back.
      if (known?.slot === slot && known.generation === generation) this.#places.delete(id)
    }
    this.version++
  }
}

/** Picks on this thread for a balancer of another one. */
class ThreadBalancer extends TablePicker<string> implements AttachedBalancer {
  readonly #known: KnownPlaces
  // Not yet there while the base is made.
  readonly #news: News | undefined
  // The last change that the members have.
  #version = 0
  #isBehind = false

  constructor(handle: BalancerHandle, given: AttachOptions) {
    const { seed, clock, engine } = checkOptions('attachBalancer', given, attachOptions)
    if (handle.ownClock && clock === undefined) {
      throw new OptionError('clock', clock, `a clock that agrees with the one of balancer ${handle.name}`)
    }
    const known = new KnownPlaces()
    let news: News | undefined
    const chosen = chooseEngine(engine ?? handle.engine)
    const memory = attachMemory(handle.table, 'counts')
    // A file's table has one already.
    if (memory.ledger === undefined) keepLedger(memory, chosen.ownFlights)
    super({
      name: handle.name,
      engine: chosen,
      memory,
      clock: clock ?? processClock,
      exact: clock !== undefined && clock !== processClock,
      algorithm: handle.algorithm,
      seed: toSeed(seed),
      places: known,
      directory: known,
      self: handle.self,
      turns: handle.turns,
      coalesce: handle.coalesce,
      trust: handle.trust,
      catchUp: () => news?.catchUp(),
    })
    this.#known = known
    this.#take(handle)
    news = new News(handle.channel, this.memory, (message) => this.#hear(message))
    this.#news = news
    // Only now: from here on it is told.
    if (isClosed(handle)) {
      this.close()
      throw new ClosedError(`balancer ${handle.name}`)
    }
    this.#post({ kind: 'attached', version: this.#version })
  }

  override get closed(): boolean {
    this.#news?.catchUp()
    return super.closed
  }

  override get nodes(): readonly string[] {
    this.#news?.catchUp()
    return super.nodes
  }

  override get available(): readonly string[] {
    this.#news?.catchUp()
    return super.available
  }

  close(): void {
    if (this.closed) return
    this.closePicks()
    this.members.clear()
    this.#news?.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  // The balancer is told too, and tells all its threads.
  protected override heard(told: PlacedTold): void {
    this.#post({ kind: 'told', told })
  }

  #post(message: HandleMessage): void {
    this.#news?.post(message)
  }

  #hear(message: HandleMessage): void {
    if (message.kind === 'members') this.#hearAll(message)
    else if (message.kind === 'change' || message.kind === 'standings') this.#hearChange(message)
    else if (message.kind === 'closed') this.close()
  }

  #hearAll(message: Pick<BalancerHandle, 'version' | 'members'>): void {
    // Told to another thread that lacked it.
    if (message.version > this.#version) this.#take(message)
  }

  #hearChange(change: PostedChange): void {
    if (this.closed || change.version <= this.#version) return
    if (change.version > this.#version + 1) {
      // Some came before this thread listened. They come with all that followed.
      if (!this.#isBehind) this.#post({ kind: 'attached', version: this.#version })
      this.#isBehind = true
      return
    }
    this.#version = change.version
    this.#isBehind = false
    if (change.kind === 'standings') this.restood(this.#stand(change.members))
    else this.#change(change)
  }

  #change({ runs, joined }: PostedChange & { kind: 'change' }): void {
    const ids = joined.places.map(({ id }) => id)
    this.#known.join(joined.places)
    const left = this.members.rearrange(runs, ids)
    this.#known.leave(left)
    this.#stand(joined)
    this.changed()
  }

  #take({ version, members: { places, standings } }: Pick<BalancerHandle, 'version' | 'members'>): void {
    if (this.closed) return
    this.#version = version
    this.#isBehind = false
    // A node that left and came back is another member: its slot is another.
    for (const place of places) {
      const before = this.#known.find(place.id)
      if (before !== undefined && (before.slot !== place.slot || before.generation !== place.generation)) {
        this.members.remove(place.id)
      }
    }
    this.#known.take(places)
    const ids = places.map(({ id }) => id)
    this.members.set(ids, ids)
    this.#stand({ places, standings })
    this.changed()
  }

  #stand({ places, standings }: PostedMembers): Member<string>[] {
    return places.flatMap(({ id, key = id, slot, generation }, i) => {
      const member = this.members.at(slot, generation)
      const standing = standings[i]
      // It left meanwhile, or comes with the next message of all members.
      if (member === undefined || standing === undefined) return []
      this.members.rekey(member, key)
      takeStanding(member, standing)
      this.members.update(member)
      this.members.rank(member, standing)
      return [member]
    })
  }
}

/**
 * Attaches to a balancer of another thread, from the handle that was posted here.
 *
 * @example
 * ```ts
 * const attached = attachBalancer(workerData.handle)
 * await attached.run((node) => fetch(`http://${node}/`))
 * ```
 * @param handle what `balancer.handle()` gave, posted to this thread
 * @throws TableError where the memory is not a table of this version
 * @throws ClosedError where the balancer has been closed meanwhile
 * @throws OptionError, EngineError
 */
export function attachBalancer(handle: BalancerHandle, options: AttachOptions = {}): AttachedBalancer {
  return new ThreadBalancer(checkHandle(handle), options)
}
