import * as v from 'valibot'
import { hasFields } from '../fields.js'

/** Fixed weights by node id, 0 (never picked) to 1e12; a node that is not named weighs 1. */
export type Weights = Readonly<Record<string, number>>

/** The fixed weight of a node by its id, or by its key where it is picked by keys. */
export type WeightOf = (id: string) => number

/** The largest weight of a node. */
const MAX_WEIGHT = 1e12

const wholeExpected = 'an object of weights by node id'
const expected = `a number from 0 to ${MAX_WEIGHT}`

/** Whether a value is the weight of a node. */
function isWeight(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_WEIGHT
}

/** Whether a value is an object of weights, as the option makes it; it may have come from another thread. */
export function isWeights(value: unknown, most = MAX_WEIGHT): value is Weights {
  return hasFields(value) && Object.values(value).every((weight) => isWeight(weight) && weight <= most)
}

// Not valibot's record: that passes over ids such as "constructor".
const weights = v.pipe(
  v.custom<Weights>(hasFields, wholeExpected),
  v.rawTransform<Weights, Weights>(({ dataset, addIssue, NEVER }) => {
    // Without a prototype, "__proto__" is an id like any other.
    const copy: Record<string, number> = Object.create(null)
    for (const [id, weight] of Object.entries<unknown>(dataset.value)) {
      if (!isWeight(weight)) {
        const item = {
          type: 'object',
          origin: 'value',
          input: dataset.value,
          key: id,
          value: weight,
        } as const
        addIssue({ message: expected, expected, input: weight, path: [item] })
        return NEVER
      }
      copy[id] = weight
    }
    return Object.freeze(copy)
  }),
)

/**
 * The `weights` of an algorithm: copied, frozen, and fit to be posted. Nodes that are no members may be named, since they
 * may become members.
 */
export const weightsOption = v.optional(weights)
