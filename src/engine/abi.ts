/** The addon's interface that this package is written for; .ci/shared.mjs makes it of what both have. */
export const ABI = 2811825134
