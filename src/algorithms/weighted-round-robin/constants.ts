// What both languages have: npm run lint compares it with crates/core/src/algorithms/weighted_round_robin/constants.rs.

/** The largest scaled weight: an entry that has it is picked in every round. */
export const LARGEST_WEIGHT = 65_535
/** Half of the largest: entries that follow each other are picked half a period apart. */
export const OFFSET = 32_767
/** How many numbers a sequence has. */
export const SEQUENCES = 4_294_967_296
