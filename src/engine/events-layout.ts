// The memory in which a core is told of events: npm run lint compares it with crates/node/src/events.rs.

/** Events that wait for a pick, at most. */
export const MOST_EVENTS = 64
/** 32-bit words before the events, and of each. */
export const EVENTS_HEADER = 2
export const EVENT_WORDS = 4
/** What an event tells, in the low two bits of its second word. */
export const SENT = 0
export const ENDED = 1
export const FAILED = 2
export const SET_ASIDE = 3
/** Whether a lease was alone at its member as it began, in the same word, */
export const ALONE = 4
/** which has a count of requests in flight above that. */
export const COUNT_UNIT = 8
