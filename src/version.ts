/** The version of this package, also where it is part of a bundle. The same as in package.json. */
export const VERSION = '0.1.0'
