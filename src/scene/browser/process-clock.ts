import { type Clock, performanceClock } from '../../clock.js'

/** Stands in for `process-clock.js`: there are no other threads to agree with. */
export const processClock: Clock = performanceClock()
