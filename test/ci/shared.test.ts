import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { differences, numbersInRust, numbersInTypeScript, publicInRust, shared } from '../../.ci/shared.mjs'
import { ABI } from '../../dist/engine/abi.js'

const root = join(fileURLToPath(import.meta.url), '../../..')

test('what TypeScript and Rust must both have is the same in both, and the number of the interface is of it', async (t) => {
  const { problems, abi } = await shared(root)
  t.deepEqual(problems, [])
  t.is(abi, ABI)
})

test('constants are read from both languages', async (t) => {
  const ts = await numbersInTypeScript(
    "import { x } from './x.js'\nexport const A = 1_000\nconst B = A / 4\nexport const C = 2 ** 38 - 1\nexport const F = -2\nexport const METRICS = ['cpu', 'qps'] as const\nexport const f = () => x",
  )
  const rust = numbersInRust(
    'pub const A: usize = 1_000;\npub const B: usize = A / 4;\npub const C: u64 = (1 << 38) - 1;\npub const CPU: usize = 0;\npub const QPS: usize = 1;\npub const D: u32 = 0x65_6c;\nconst E: u32 = u32::MAX;\npub const F: i32 = -2;\nconst G: f64 = f64::INFINITY;\npub const NAMED: usize = 2;',
  )
  t.deepEqual(
    differences(ts, rust, () => false),
    [],
  )
  t.deepEqual([ts.get('B'), rust.get('B'), rust.get('D'), rust.get('E')], [250, 250, 0x656c, 4_294_967_295])
  t.deepEqual(
    [ts.get('F'), rust.get('F'), rust.get('G'), ts.get('NAMED')],
    [-2, -2, Number.POSITIVE_INFINITY, 2],
  )
})

test('a constant of another value is found, and where all must be in both, one that is missing', (t) => {
  const [ts, rust] = [
    new Map([
      ['A', 1],
      ['B', 2],
    ]),
    new Map([
      ['A', 1],
      ['B', 3],
      ['C', 4],
    ]),
  ]
  t.deepEqual(
    differences(ts, rust, () => false),
    ['B is 2 in TypeScript and 3 in Rust'],
  )
  t.deepEqual(
    differences(ts, rust, (name) => name === 'C'),
    ['B is 2 in TypeScript and 3 in Rust', 'C is undefined in TypeScript and 4 in Rust'],
  )
})

test('of Rust, the constants that others use are told from the private ones', (t) => {
  t.deepEqual([...publicInRust('pub const A: u8 = 1;\nconst B: u8 = 2;\n    const C: u8 = 3;')], ['A'])
})

test('states of members, places of facts and codes of draws are among what is compared', async (t) => {
  const { names } = await shared(root)
  for (const name of [
    'MEMBER_UP',
    'MEMBER_OUT',
    'FACT_BAND',
    'FACT_NEXT_EXPIRY',
    'NO_ONE',
    'UNKNOWN_LOAD',
    'FAILED',
  ]) {
    t.true(names.has(name), name)
  }
})
