import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'

const run = promisify(execFile)

interface Failed {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** What a script of this repository says that is given wrong arguments. */
async function refused(file: string, args: readonly string[]): Promise<Failed> {
  const path = fileURLToPath(new URL(`../../.ci/${file}`, import.meta.url))
  return run(process.execPath, [path, ...args]).then(
    () => ({ code: 0, stdout: '', stderr: '' }),
    (error) => error as Failed,
  )
}

const scripts = {
  'api/main.mjs': 'It takes --write, --against VALUE, --version VALUE, after --.',
  'asan.mjs': 'It takes --crates, --addon, after --.',
  'audit/main.mjs': 'It takes --offline, after --.',
  'docs.mjs': 'It takes no arguments.',
  'loom.mjs': 'It takes --depth VALUE, --preemptions VALUE, others without dashes, after --.',
  'package/main.mjs': 'It takes --bindings VALUE, --all, --glibc VALUE, after --.',
  'release/build.mjs': 'It takes --target VALUE, --into VALUE, after --.',
  'release/check.mjs': 'It takes --tag VALUE, --on VALUE, --notes VALUE, after --.',
  'release/publish.mjs': 'It takes --from VALUE, --registry VALUE, --dry-run, --partial, after --.',
  'release/test.mjs': 'It takes --bindings VALUE, after --.',
  'workflows/main.mjs': 'It takes no arguments.',
}

for (const [file, takes] of Object.entries(scripts)) {
  test(`${file}: an argument that it does not take is refused in a line that says which it does`, async (t) => {
    const { code, stdout, stderr } = await refused(file, ['--nope'])
    t.is(code, 1)
    t.is(stdout, '')
    t.regex(stderr, /^npm run [\w:]+: Unknown option '--nope'\. It takes [^\n]+\n$/)
    t.true(stderr.endsWith(`${takes}\n`), stderr)
  })
}

const values: [string, string[], RegExp][] = [
  ['package/main.mjs', ['--bindings', 'no/folder'], /^--bindings no\/folder: there is no addon/],
  ['package/main.mjs', ['--bindings', '.ci'], /^--bindings \.ci: there is no addon/],
  ['package/main.mjs', ['--glibc', 'old'], /^--glibc old: expected a version such as 2\.17$/],
  ['loom.mjs', ['--depth', '4'], /^--depth 4: expected 1, 2 or 3$/],
  ['loom.mjs', ['--preemptions', 'few'], /^--preemptions few: expected a whole number$/],
  ['release/build.mjs', ['--target', 'linux'], /^--target: expected one of x86_64-unknown-linux-gnu, /],
]

for (const [file, args, message] of values) {
  test(`${file}: ${args.join(' ')} is refused before anything is done`, async (t) => {
    const { code, stdout, stderr } = await refused(file, args)
    t.is(code, 1)
    t.is(stdout, '')
    t.regex(stderr.trimEnd(), message)
  })
}
