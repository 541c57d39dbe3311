import { type Dice, type Plan, UniformPlan } from '../engine/portable/plan.js'
import { idOf, type NodeLike } from './node.js'

/** Nothing to draw from. */
export const NO_PLAN: Plan = new UniformPlan(new Uint32Array(0), 0)

/**
 * An array of nodes that came more than once, with what is known of its elements, so that another pick from it need
 * not look at each of them.
 */
export class BoundArray {
  readonly array: readonly NodeLike[]
  readonly length: number
  /** The elements as they were when they were last looked at. */
  readonly elements: readonly NodeLike[]
  readonly ids: readonly string[]
  /** What to draw from: indices into the array. */
  plan: Plan = NO_PLAN
  /** What its draws change: the picker's own, unless the plan needs a sequence of its own. */
  dice: Dice
  /** The view's revision that the plan is of. */
  revision = -1
  /** Picks until the whole array is looked at again. */
  left = 0

  /** Throws BadNodeError. */
  constructor(array: readonly NodeLike[], dice: Dice) {
    this.array = array
    this.dice = dice
    this.elements = array.slice()
    // Of the copy: reading the ids may run the caller's code, and that may change the array.
    this.length = this.elements.length
    // Not `map`, which passes over holes.
    this.ids = Array.from(this.elements, idOf)
  }

  /** Whether the array holds what it held, under the same ids. */
  isUnchanged(): boolean {
    const { array, elements, ids } = this
    if (array.length !== elements.length) return false
    for (let i = 0; i < elements.length; i++) {
      const element = array[i] as NodeLike
      if (element !== elements[i]) return false
      if (typeof element !== 'string' && element.id !== ids[i]) return false
    }
    return true
  }
}
