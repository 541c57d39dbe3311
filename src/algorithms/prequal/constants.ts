// What both languages have: npm run lint compares it with crates/core/src/algorithms/prequal/constants.rs.

/** How much faster entries come than they go, a pick: the paper's delta. */
export const SURPLUS = 1
/** With fewer entries a pick is made at random. */
export const FEWEST = 2
/** Values of which quantiles are taken. */
export const RECENT = 128
