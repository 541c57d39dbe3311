import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { readScenario } from '../../dist/scenario/read.js'
import { hasHaproxy } from '../agent/haproxy.js'
import { run } from '../cli/command.js'
import { type Block, blocks, blocksOf, commandsOf, commandsWithin, linesOf, placeOf } from './blocks.js'
import { aroundHaproxy } from './commands.js'

/** Which tests run the blocks of a language; none do for drawings. */
const RUN_BY: Readonly<Record<string, string>> = {
  ts: 'examples.test.ts',
  js: 'examples.test.ts',
  sh: 'commands.test.ts',
  yaml: 'blocks.test.ts for scenarios, manifests.test.ts for Kubernetes',
  haproxy: 'blocks.test.ts and haproxy.test.ts',
  elixir: 'blocks.test.ts',
  text: 'blocks.test.ts',
  mermaid: 'none: a drawing',
}

const of = (language: string) => blocks.filter((block) => block.language === language)
const scenarios = of('yaml').filter(({ file }) => file.endsWith('scenarios.md'))

function file(t: ExecutionContext, name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-blocks-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

test('every block of the documentation has a language whose tests run it', (t) => {
  for (const block of blocks) {
    t.true(Object.hasOwn(RUN_BY, block.language), `${placeOf(block)}: "${block.language}" is run by no test`)
  }
  t.true(blocks.length > 20)
})

test('blocks and commands are found where they are, whatever is in them', (t) => {
  const text = [
    'Say `npx idlest size --json` or `A=1 npx idlest top x`, not `npx idlest size`.',
    '```ts',
    'const fence = `',
    '```',
    '````sh title',
    '# a comment',
    'npx idlest size # all of it',
    '```',
    '````',
  ]
  const found = blocksOf('a.md', text)
  t.deepEqual(
    found.map(({ line, language, text }) => [line, language, text]),
    [
      [3, 'ts', 'const fence = `\n'],
      [6, 'sh', '# a comment\nnpx idlest size # all of it\n```\n'],
    ],
  )
  t.deepEqual(
    commandsOf(found[1] as Block).map(({ line, text }) => [line, text]),
    [
      [7, 'npx idlest size'],
      [8, '```'],
    ],
  )
  t.deepEqual(
    commandsWithin('a.md', text).map(({ line, text }) => [line, text]),
    [
      [1, 'npx idlest size --json'],
      [1, 'A=1 npx idlest top x'],
    ],
  )
  t.throws(() => blocksOf('a.md', ['```ts', 'const a = 1']), { message: 'a.md:2: a block without an end' })
})

for (const block of scenarios) {
  test(`${placeOf(block)}: is a scenario`, (t) => {
    const read = readScenario(block.text)
    t.true('scenario' in read, JSON.stringify(read))
  })
}

for (const block of of('elixir')) {
  test(`${placeOf(block)}: each option of it has a row that says the same default`, (t) => {
    const rows = linesOf(block.file).filter((line) => line.startsWith('| `'))
    const [, options = ''] = /algorithm_opts: \[([^\]]*)\]/.exec(block.text) ?? []
    const pairs = options.split(', ').map((pair) => pair.split(': '))
    t.true(pairs.length > 2)
    for (const [name, value = ''] of pairs) {
      const row = rows.find((line) => line.startsWith(`| \`${name}\` | ${value.replace('_', ',')}`))
      t.truthy(row, `no row for ${name} with ${value}`)
    }
  })
}

for (const block of of('haproxy')) {
  test(`${placeOf(block)}: is a configuration that HAProxy takes`, (t) => {
    if (!hasHaproxy) return t.regex(block.text, /^(backend|frontend|listen) /m)
    const path = file(t, 'haproxy.cfg', aroundHaproxy(block.text))
    const { status, stdout, stderr } = spawnSync('haproxy', ['-c', '-f', path], { encoding: 'utf8' })
    t.is(status, 0, stderr)
    t.is(stderr.replace(/^\[NOTICE\].*\n/gm, ''), '', stdout)
    return undefined
  })
}

/** What is said of the documented scenario with such mistakes in it. */
async function saidOf(t: ExecutionContext, mistakes: Readonly<Record<string, string>>): Promise<string> {
  let text = scenarios[0]?.text ?? ''
  for (const [right, wrong] of Object.entries(mistakes)) text = text.replace(right, wrong)
  const path = file(t, 'scenario.yaml', text)
  const { code, stderr } = await run('simulate', path)
  t.is(code, 2)
  return stderr.replaceAll(path, 'scenario.yaml')
}

/** What is written as the output of something, and how to get it. */
const outputs: readonly {
  readonly has: string
  readonly output: (t: ExecutionContext) => Promise<string>
}[] = [
  {
    has: 'the nearest is "threshold"',
    output: (t) =>
      saidOf(t, { 'cores: 4': 'cores: 0', 'threshold:': 'treshold:', 'server: old': 'server: odl' }),
  },
  { has: 'is "odl"', output: (t) => saidOf(t, { 'server: old': 'server: odl' }) },
]

for (const block of of('text')) {
  test(`${placeOf(block)}: is what is said there`, async (t) => {
    const known = outputs.filter(({ has }) => block.text.includes(has))
    t.is(known.length, 1, 'no test knows what says this: say so in outputs')
    for (const { output } of known) t.is(await output(t), block.text)
  })
}
