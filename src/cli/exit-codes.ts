/** The call was right, but what it asked for could not be done. */
export const FAILED = 1

/** The call was wrong: an unknown command, a wrong option. */
export const USAGE = 2
