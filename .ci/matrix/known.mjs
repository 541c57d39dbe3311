/**
 * @typedef {object} Exception a test that a runtime is known not to pass
 * @property {import('./runtimes.mjs').Runtime['kind']} kind
 * @property {string} file
 * @property {string} title
 * @property {string} why
 * @property {boolean} [hangs] it would wait for ever: it is not run
 */

/**
 * The tests of the acceptance part that a runtime is known not to pass. They run all the same, and are counted by
 * themselves; those that hang are left out, and are counted with them.
 * @type {Exception[]}
 */
export const known = []
