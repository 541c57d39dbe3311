// What both languages have: npm run lint compares it with crates/core/src/algorithms/power_of_two/constants.rs.

/** What the native engine takes for the id of the thread that keeps to one member, where none does. */
export const NO_WORKER = -1
