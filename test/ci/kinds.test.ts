import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { algorithmNames, findAll, kindChecks } from '../../.ci/kinds.mjs'

const root = join(fileURLToPath(import.meta.url), '../../..')
const names = new Set(['adaptive', 'leastCpu', 'random'])
const asks = (source: string, isRust = false) => kindChecks(source, names, isRust).length > 0

test('every algorithm has a name that the check knows', (t) => {
  const known = algorithmNames(root)
  t.true(known.size >= 13)
  for (const name of ['adaptive', 'custom', 'hashRing', 'weightedRoundRobin']) t.true(known.has(name), name)
  t.false(known.has('add'))
})

for (const source of [
  "if (algorithm.kind === 'leastCpu') go()",
  'const is = "leastCpu" != kind',
  'const is = kind !== `leastCpu`',
  "switch (kind) {\n  case 'adaptive':\n    go()\n}",
  "const is = ['leastCpu', 'other'].includes(kind)",
  "const is = new Set(['adaptive']).has(kind)",
  "const is = 'adaptive' in algorithm",
  "const is = Object.hasOwn(algorithm, 'leastCpu')",
  "const is = kind.startsWith('leastCpu')",
  "const words = new Map([['random', 1]])",
  "const words = { leastCpu: 'a' }[kind]",
  "const words = { 'leastCpu': 'a' }",
  "const words = { adaptive: 'a', random: 'b' }",
]) {
  test(`a check of the kind is found: ${JSON.stringify(source)}`, (t) => {
    t.true(asks(source))
  })
}

for (const source of [
  "import { adaptive, random } from './x.js'",
  "// kind === 'leastCpu'\nconst a = 1",
  "/* case 'leastCpu': */",
  'const x = { random: () => 1 }',
  "const algorithm = { kind: 'leastCpu', threshold: 5 }",
  "warn('leastCpu() herds')",
]) {
  test(`what is no check of the kind is left alone: ${JSON.stringify(source)}`, (t) => {
    t.false(asks(source))
  })
}

for (const source of [
  'match kind { "random" => 1, _ => 2 }',
  'match kind { "other" | "leastCpu" => 1, _ => 2 }',
  'if kind == "leastCpu" {}',
  'match self { Algorithm::LeastCpu { .. } => 1 }',
]) {
  test(`a check of the kind is found in Rust: ${JSON.stringify(source)}`, (t) => {
    t.true(asks(source, true))
  })
}

test('no code outside the modules of the algorithms asks for their kind', (t) => {
  t.deepEqual(findAll(root), [])
})
