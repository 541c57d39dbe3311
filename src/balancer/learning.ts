import type { Clock } from '../clock.js'
import type { Learner } from '../engine/engine.js'
import type { Learning } from './lease.js'
import type { Member } from './member.js'
import { TurnClock } from './turn-clock.js'

/**
 * Has an engine learn from how leases end.
 * @param isKnown whether the engine knows this member by its index
 */
export function learningOf(learner: Learner, clock: Clock, isKnown: (member: Member) => boolean): Learning {
  const turns = new TurnClock(clock)
  return {
    now: () => turns.now(),
    ended: (member, left, ok, latency) => {
      if (isKnown(member)) learner.ended(member.index, left, ok, latency)
    },
  }
}
