import * as v from 'valibot'
import { number } from '../options.js'
import { NODE_STATES } from '../reports/check.js'
import { MAX_VALUE } from '../reports/values.js'
import type { Member } from './member.js'
import type { Standing } from './standings.js'

/** How a member stands, as it is posted to other threads. */
export type PostedStanding = v.InferOutput<typeof postedStanding>

export const postedStanding = v.object({
  order: v.picklist(['up', 'drain']),
  told: v.object({
    state: v.optional(v.picklist(NODE_STATES)),
    weight: v.optional(number(0, MAX_VALUE)),
    maxInFlight: v.optional(number(0, MAX_VALUE)),
  }),
  ejected: v.boolean(),
  refused: v.boolean(),
  suspect: v.boolean(),
  unreachable: v.boolean(),
  tier: number(0),
  part: number(0, 1),
})

/** How a member stands on the balancer's own thread. */
export function standingOf(member: Standing): PostedStanding {
  const { order, told, ejected, refused, suspect, unreachable, tier, part } = member
  return { order, told, ejected, refused, suspect, unreachable, tier, part }
}

/** Whether a member stands as it did when that was posted. */
export function isSameStanding(before: PostedStanding | undefined, now: Standing): boolean {
  return (
    before !== undefined &&
    before.order === now.order &&
    before.told === now.told &&
    before.ejected === now.ejected &&
    before.suspect === now.suspect &&
    before.unreachable === now.unreachable &&
    before.tier === now.tier &&
    before.part === now.part
  )
}

/** Takes over how a member stands there, but for its tier and its part, which `Members.rank` takes. */
export function takeStanding(
  member: Member,
  { order, told, ejected, refused, suspect, unreachable }: PostedStanding,
): void {
  member.order = order
  member.told = told
  if (ejected && !member.ejectedThere) member.era++
  member.ejectedThere = ejected
  member.refusedThere = refused
  member.suspectThere = suspect
  member.unreachableThere = unreachable
}
