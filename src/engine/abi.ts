/** Version of the addon's interface that this package is written for. */
export const ABI = 15
