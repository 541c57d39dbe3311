import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { algorithmNames, findAll, kindChecks, usedByTrait } from '../../.ci/kinds.mjs'

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
  "const LIVE = ['adaptive']",
  "const KIND = 'leastCpu'",
  "const algorithm = { kind: 'leastCpu', threshold: 5 }",
  "if (Object.is(kind, 'adaptive')) go()",
  'if (algorithm.kind === other.kind) go()',
  'if (leastCpu().kind === options.algorithm.kind) go()',
  'switch (this.#options.algorithm.kind) {}',
  'const words = WORDS[algorithm.kind]',
  'if (LIVE.has(algorithm.kind)) go()',
  'if (algorithm.kind.startsWith(prefix)) go()',
  'if (/^least/.test(algorithm.kind)) go()',
  "const band = 'threshold' in algorithm ? 1 : 0",
  "const band = 'threshold' in engineAlgorithm ? 1 : 0",
  'if (isAdaptive(algorithm)) go()',
  'const own = leastCpuOf(algorithm)',
  "import { adaptiveDefinition } from '../algorithms/adaptive/index.js'",
  "import { type AdaptiveAlgorithm, adaptive } from '../algorithms/adaptive/options.js'",
  "const { adaptive } = await import('../algorithms/adaptive/options.js')",
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
  "import type { AdaptiveAlgorithm } from '../algorithms/adaptive/options.js'",
  "import { definitionOf } from '../algorithms/registry.js'",
  'new Core(bytes, algorithm.kind, options)',
  'warn(algorithm.kind)',
  'const words = list[place.kind]',
  "if ('code' in error) go()",
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
  'if ["leastCpu", "other"].contains(&kind) {}',
  'if kind.starts_with("adaptive") {}',
  'if matches!(kind, "random") {}',
  'const KIND: &str = "leastCpu";',
  'use crate::algorithms::adaptive::Learned;',
  'use crate::algorithms::{Algorithm, least_cpu::LeastCpu};',
  'fn learned(&mut self) -> Option<&mut algorithms::adaptive::Learned> { None }',
  'if let Some(it) = algorithm.downcast_ref::<Own>() {}',
]) {
  test(`a check of the kind is found in Rust: ${JSON.stringify(source)}`, (t) => {
    t.true(asks(source, true))
  })
}

for (const source of [
  'use crate::algorithms::{Algorithm, Look, Probe};',
  '// "leastCpu"',
  'let algorithm = algorithms::make(&kind, &options)?;',
]) {
  test(`what is no check of the kind is left alone in Rust: ${JSON.stringify(source)}`, (t) => {
    t.false(asks(source, true))
  })
}

test('the trait of Rust knows of an algorithm no more than how to make it', (t) => {
  const listed = 'pub mod adaptive;\nmatch kind { "adaptive" => adaptive::make(options) }'
  t.deepEqual(usedByTrait(listed, names), [])
  const learned = 'fn learned(&mut self) -> Option<&mut adaptive::Learned>;'
  t.deepEqual(usedByTrait(learned, names), [{ line: 1, what: 'adaptive::Learned' }])
})

test('no code outside the modules of the algorithms asks for their kind', (t) => {
  t.deepEqual(findAll(root), [])
})
