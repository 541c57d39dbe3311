// What both languages have, and the memory that they share. `constants.rs` in crates/core/src/algorithms/adaptive says the
// same: npm run lint compares them.

/** Responses of a node over which its cost is learned. */
export const MEMORY = 128
/** Responses that the mean of all nodes counts as, in each node's cost. */
export const PRIOR = 5
/** Part of the way that a share of errors goes at each response. */
export const ERROR_GAIN = 0.125
/** Responses of all nodes over which their share of errors is taken: an error counts less, the more nodes return some. */
export const FAILING_MEMORY = 64
/** Time constant with which shares of errors fade, ms. */
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
/**
 * A response counts as having taken at most so many times what was to be expected, so that one long poll, report or timeout does
 * not decide about its node.
 */
export const CLIP = 6
/** The first response of a node may have waited for a connection: it counts as having taken at most so many times that. */
export const FIRST_CLIP = 2
/** A node without requests of this process is tried again after so many picks for each node. */
export const RETRY = 32
/** Part of a node's extra distance, compared with the nearest node, that its response times and requests in flight leave out. */
export const FAR_SHARE = 0.75
/** Distances are not told apart below this part of the mean cost, */
export const FAR_LEAST = 0.1
/** and below this part of it over the responses that a node has given. */
export const FAR_FEW = 16
/** Responses over which the least response time of a node falls to what it takes now, */
export const LEAST_FALL = 4
/** and over which it rises to that. */
export const LEAST_RISE = 1_024
/** Responses of a node over which its mean response time is taken. */
export const LATENCY_MEMORY = 64
/** The least that a request in flight counts as, at a node that is far away. */
export const LEAST_THIN = 0.02
/** A node with at most so much CPU to spare, as a share, */
export const BUSY_SPARE = 0.1
/** and so much less than the median of all nodes, */
export const BUSY_GAP = 0.3
/** counts as so many times as slow. */
export const BUSY_COST = 2
/** Load is low where reports give a mean CPU below this, 0-1. */
export const CALM_CPU = 0.35
/** Without them, or where so much of all that is in flight is of this process: pairs of responses that say so, at least, */
export const CALM_OWN_SHARE = 0.5
export const CALM_PAIRS = 300
/** their correlation from which load is not low, */
export const CALM_MOST = 0.05
/** the least that their mean square counts as there, */
export const CALM_LEAST = 0.1
/** and the time constant with which pairs are forgotten, ms. */
export const CALM_FADING = 60_000
/** Standard errors by which costs must differ where load is low. */
export const CALM_ERRORS = 3
/** All members are compared where there are at most so many, */
export const ALL = 16
/** else those of the least cost, */
export const CHEAPEST = 4
/** those that ran empty last, */
export const EMPTIED = 8
/** and some at random. */
export const DRAWN = 4
/** Longest time between two refreshes of a core that is picked from, ms, */
export const REFRESH = 1_000
/** and while nothing is known from responses. */
export const FIRST_REFRESH = 100
/** The least that a node has to spare, as a share. */
export const LEAST_SPARE = 0.01

/** Numbers that are kept of all members together, and of each, in one array: each array that is read has a price. A power of two. */
export const KNOWN = 16
/** Those of all: the mean cost, ms, */
export const MEAN = 0
/** the difference of two scores that counts as none, as a share, */
export const SCATTER = 1
/** how sure it is that load is low, 0-1, */
export const CALM = 2
/** the share of errors in the last responses of all, 0-1, */
export const FAILING = 3
/** 1 where the mean cost is learned, else 0, */
export const IS_KNOWN = 4
/** picks so far, */
export const PICKS = 5
/** the member that is to be tried again, or -1, */
export const RETRIED = 6
/** and pairs of responses, the sum of their products, and of their squares. */
export const PAIRS = 7
export const PRODUCTS = 8
export const SQUARES = 9
/** Those of a member: sums of loads and of response times, ms, of its responses, */
export const LOADS = 0
export const TIMES = 1
/** its share of errors, 0-1, */
export const ERRORS = 2
/** picks without a lease that are ahead of the others', */
export const AHEAD = 3
/** what one request costs, ms, */
export const COST = 4
/** what one request in flight counts as, 0-1, */
export const THIN = 5
/** requests in flight that later ones have overtaken, */
export const ASIDE = 6
/** its last pick, by number, */
export const PICKED = 7
/** what of its distance is taken out of response times, ms, */
export const FAR = 8
/** its least and its mean response time, ms; below 0: not known, */
export const LEAST = 9
export const LATENCY = 10
/** by what part its last response that was alone differed from what was expected; below -1: none, */
export const DIFFERENCE = 11
/** and how many times as slow it counts by its reports. */
export const BUSY = 12

/** Most members whose numbers are in memory that both have. */
export const MOST_SHARED = 16
/** That memory, in words of 32 bits: whether JavaScript has it, */
export const TURN_WORD = 0
/** the generator's four, */
export const GENERATOR_WORD = 2
/** and the numbers, first those of all. */
export const NUMBERS_WORD = 8
