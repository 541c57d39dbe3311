import { type EngineCore, FACT_BAND, MEMBER_UP, type MemberArrays, type View } from '../engine/engine.js'

/** `local()`: the local member while it is up, and else what an engine draws. */
export class LocalCore implements EngineCore {
  readonly name
  readonly live
  readonly #core: EngineCore
  readonly #indexOfSelf: () => number
  #members: MemberArrays | undefined
  // The local member's index at the last refresh where it was up, else -1.
  #self = -1
  #next = -1

  /**
   * @param core picks among all where the local one is not up, and then can't pick that
   * @param indexOfSelf the index of the local member among those that `setMembers` is being given, or -1
   */
  constructor(core: EngineCore, indexOfSelf: () => number) {
    this.name = core.name
    this.live = core.live
    this.#core = core
    this.#indexOfSelf = indexOfSelf
  }

  setMembers(members: MemberArrays): void {
    this.#members = members
    this.#next = this.#indexOfSelf()
    this.#core.setMembers(members)
  }

  refresh(now: number, view: View): void {
    this.#core.refresh(now, view)
    this.#self = this.#members?.states[this.#next] === MEMBER_UP ? this.#next : -1
    if (this.#self >= 0) view.facts[FACT_BAND] = 1
  }

  fill(into: Uint32Array): number {
    if (this.#self < 0) return this.#core.fill(into)
    into.fill(this.#self)
    return into.length
  }

  pick(): number {
    return this.#self < 0 ? this.#core.pick() : this.#self
  }

  rewind(kept: number): void {
    if (this.#self < 0) this.#core.rewind(kept)
  }

  pickExcluding(excluded: Uint32Array): number {
    return this.#self < 0 || excluded.includes(this.#self) ? this.#core.pickExcluding(excluded) : this.#self
  }

  fillShares(shares: Float64Array): void {
    if (this.#self < 0) {
      this.#core.fillShares(shares)
      return
    }
    shares.fill(0)
    shares[this.#self] = 1
  }
}
