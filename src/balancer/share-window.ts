/** Picks over which shares are looked at. */
const LENGTH = 128

const NOBODY = -1

/** Who was picked in the last picks, and so who has had all that one may have. Members go by their indices. */
export class ShareWindow {
  readonly #most: number
  // The last picks but one, a ring: with the one to come they are `LENGTH`.
  readonly #picks = new Int32Array(LENGTH - 1)
  #counts = new Uint32Array(0)
  #held = 0
  #next = 0

  /** @param most the share that one may have of the picks, above 0 to 1 */
  constructor(most: number) {
    this.#most = most
  }

  /**
   * Whether another pick would give a member more than its share of the last picks, rounded up to whole ones; of fewer than
   * 128 while there were no more. Never are all of so many members full.
   * @param members how many share the picks: each may have as much as an equal share
   */
  isFull(index: number, members: number): boolean {
    const most = Math.max(this.#most, 1 / members)
    // Less a hair: 0.07 * 100 is more than 7.
    return (this.#counts[index] as number) + 1 > Math.ceil(most * (this.#held + 1) - 1e-9)
  }

  /** Takes in that a member was picked. */
  add(index: number): void {
    const picks = this.#picks
    if (this.#held === picks.length) this.#forget(picks[this.#next] as number)
    else this.#held++
    picks[this.#next] = index
    this.#next = (this.#next + 1) % picks.length
    this.#count(index, 1)
  }

  /**
   * Takes in that members have other indices now.
   * @param indexOf the new index of the one that had this, or -1 where it has left
   */
  remap(count: number, indexOf: (before: number) => number): void {
    this.#counts = new Uint32Array(count)
    for (let i = 0; i < this.#held; i++) {
      const before = this.#picks[i] as number
      const index = before === NOBODY ? NOBODY : indexOf(before)
      this.#picks[i] = index
      if (index !== NOBODY) this.#count(index, 1)
    }
  }

  #forget(index: number): void {
    if (index !== NOBODY) this.#count(index, -1)
  }

  #count(index: number, by: number): void {
    this.#counts[index] = (this.#counts[index] as number) + by
  }
}
