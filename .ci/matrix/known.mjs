/**
 * @typedef {object} Exception a test that a runtime is known not to pass
 * @property {import('./runtimes.mjs').Runtime['kind']} kind
 * @property {string} file
 * @property {string} title
 * @property {string} why
 * @property {boolean} [hangs] it would wait for ever: it is not run
 */

/**
 * Exceptions of one file that have the same reason.
 * @param {Exception['kind']} kind
 * @param {string} file
 * @param {string} why
 * @param {string[]} titles
 * @param {boolean} [hangs]
 * @returns {Exception[]}
 */
function of(kind, file, why, titles, hangs = false) {
  return titles.map((title) => ({ kind, file, title, why, hangs }))
}

/** @type {Record<string, string[]>} tests that give a dispatcher to the fetch of the runtime, by their file */
const byOwnFetch = {
  callers: ["fetch of undici and Node's own take it as their dispatcher, and so does request"],
  failures: ["the caller's own time-out is a time-out; any other abort of its says nothing"],
  'global-dispatcher': ["as the global dispatcher it balances every fetch, also Node's own"],
  'in-flight': ['fetch that is aborted leaves nothing in flight'],
  package: ['a process ends by itself when its requests have, though neither was closed'],
  reports: ['the header is passed on; with stripHeader it is not, whichever handler or fetch asks'],
  retry: [
    'fetch gets the answer of another node too',
    'what fetch could not send is sent elsewhere, with its body',
  ],
}

/**
 * The tests of the acceptance part that a runtime is known not to pass. They run all the same, and are counted by
 * themselves; those that hang are left out, and are counted with them.
 * @type {Exception[]}
 */
export const known = [
  ...of(
    'bun',
    'test/engine/native-loader-process.test.ts',
    'Bun picks with the portable engine unless it is told otherwise, and then says nothing of the addon',
    [
      'native is chosen where it loads',
      'without the addon auto is portable, with one warning for all threads',
      'addons that are not allowed are told of as such',
    ],
  ),
  ...of(
    'bun',
    'test/agent/agent.test.ts',
    'a server is not told of a connection that has sent nothing yet, and leaves it open when it closes',
    ['close does not wait for connections that sent nothing'],
    true,
  ),
  ...of('bun', 'test/balancer/observe.test.ts', 'the headers of a response of fetch can be changed', [
    'reports come off real responses and trailers',
  ]),
  ...of('deno', 'test/engine/native-loader-binding.test.ts', 'a string is taken for a number', [
    'arguments of the wrong type are errors, never a crash',
  ]),
  ...of('deno', 'test/engine/native-loader-process.test.ts', 'there is no --no-addons', [
    'addons that are not allowed are told of as such',
  ]),
  ...of('deno', 'test/engine/native-loader.test.ts', 'that a library does not load has no code', [
    'a file that is no library is refused with its error',
  ]),
  ...of(
    'deno',
    'test/table/file/sharing.test.ts',
    'what the addon holds for a worker thread that is terminated goes on to be held',
    ['a worker thread that is attached counts in the file, and what it had is taken back when it ends'],
    true,
  ),
  ...of(
    'bun',
    'test/engine/native-loader-systems.test.ts',
    'what is said of a module that can not be loaded has other words',
    ['a package without its file, or with another, is to be installed again'],
  ),
  ...of(
    'deno',
    'test/agent/report-server.test.ts',
    'a server does not tell of the connections that it drops',
    ['one connection too many is closed and counted; when another ends there is room again'],
  ),
  .../** @type {const} */ (['bun', 'deno']).flatMap((kind) =>
    of(
      kind,
      'test/balancer/thread-pool.test.ts',
      'a thread that sleeps by Atomics.wait between its tasks hears nothing: channels are read by the event loop alone',
      [
        'the threads of a pool follow the members, and end with the balancer',
        'the threads of a pool hear of members at picks by key and from arrays too',
      ],
      true,
    ),
  ),
  .../** @type {const} */ (['bun', 'deno']).flatMap((kind) =>
    Object.entries(byOwnFetch).flatMap(([file, titles]) =>
      of(
        kind,
        `test/integrations/undici/${file}.test.ts`,
        'the own fetch takes no dispatcher of undici',
        titles,
      ),
    ),
  ),
]
