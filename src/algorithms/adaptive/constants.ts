// What both languages have, and the memory that they share. `constants.rs` in crates/core/src/algorithms/adaptive says the
// same: npm run lint compares them.

/** Responses of a node over which its cost is learned. */
export const MEMORY = 128
/** Responses that the mean of all nodes counts as, in each node's cost. */
export const PRIOR = 5
/** Part of the way that a share of errors goes at each response. */
export const ERROR_GAIN = 0.125
/** Time constant with which a share of errors fades, ms. */
export const FORGIVING = 5_000
/** A node's cost is at most so many times the mean. */
export const WITHIN = 10
/** Difference of two scores that counts as none, where this process sends all that the nodes get. */
export const BAND = 0.2
/** What this process is taken to send of what the nodes get, where no report says. */
export const OWN_SHARE = 0.25
/** Time constant over which that share is taken from reports, ms. */
export const SMOOTHING = 10_000
/**
 * What each request takes of this process, ms, whichever node answers it. Requests that are in flight together wait for each
 * other there, and where that is most of the wait, it must not look as if the node that has most of them were the fastest.
 */
export const OWN_TIME = 0.5
/** All members are compared where there are at most so many, */
export const ALL = 16
/** else those of the least cost, */
export const CHEAPEST = 4
/** those that ran empty last, */
export const EMPTIED = 8
/** and some at random. */
export const DRAWN = 4
/** Longest time between two refreshes of a core that is picked from, ms. */
export const REFRESH = 1_000
/** The least that a node has to spare, as a share. */
export const LEAST_SPARE = 0.01

/** Numbers that are kept of a member, in one array: each array that is read has a price. A power of two. */
export const KNOWN = 8
/** Which of them they are; the others are not used. */
export const LOADS = 0
export const TIMES = 1
export const ERRORS = 2
export const AHEAD = 3
export const COST = 4

/** Most members whose numbers are in memory that both have. */
export const MOST_SHARED = 16
/** That memory, in words of 32 bits: whether JavaScript has it, */
export const TURN_WORD = 0
/** the generator's four, */
export const GENERATOR_WORD = 2
/** two doubles, */
export const MEAN_WORD = 6
export const SCATTER_WORD = 8
/** and the numbers of each member. */
export const MEMBERS_WORD = 16
