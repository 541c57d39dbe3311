// What both languages have: npm run lint compares it with crates/core/src/algorithms/peak_ewma/constants.rs.

/** Members that are compared. */
export const CHOICES = 2
/** Longest time between two refreshes of a core that is picked from, ms: peaks fade in steps of at most this. */
export const REFRESH = 1_000
