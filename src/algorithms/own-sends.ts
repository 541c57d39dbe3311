import * as v from 'valibot'
import { number } from '../options.js'
import { MILLI } from '../table/layout.js'
import type { OwnSendsCost } from './algorithm.js'

const expected = 'true, false, or a number of percentage points from 0.000001 to 100'

/**
 * Whether own picks since a node's reading count: true, with a learned cost; or what one of them adds to the node's CPU,
 * percentage points.
 */
export const ownSendsOption = v.optional(v.union([v.boolean(), number(1e-6, 100)], expected), false)

/** The option in the table's units. */
export function ownSendsCost(given: number | boolean): OwnSendsCost {
  return typeof given === 'number' ? given * MILLI : given
}
