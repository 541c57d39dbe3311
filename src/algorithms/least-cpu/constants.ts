// What both languages have: npm run lint compares it with crates/core/src/algorithms/least_cpu/constants.rs.

/** What the native engine takes for `missing: 'mean'`, in place of 1/1000 percentage points. */
export const MEAN = -1
/** The same for `missing: 'exclude'`. */
export const EXCLUDE = -2
