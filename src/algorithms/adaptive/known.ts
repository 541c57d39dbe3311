/** Numbers that `adaptive` keeps of a member, in one array: each array that is read has a price. A power of two. */
export const KNOWN = 8

/** Which of them they are; `engine.ts` says what for. The others are not used. */
export const LOADS = 0
export const TIMES = 1
export const ERRORS = 2
export const AHEAD = 3
export const COST = 4
