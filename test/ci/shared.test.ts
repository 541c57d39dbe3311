import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { differences, numbersInRust, numbersInTypeScript, shared } from '../../.ci/shared.mjs'
import { ABI } from '../../dist/engine/abi.js'

const root = join(fileURLToPath(import.meta.url), '../../..')

test('what TypeScript and Rust must both have is the same in both, and the number of the interface is of it', async (t) => {
  const { problems, abi } = await shared(root)
  t.deepEqual(problems, [])
  t.is(abi, ABI)
})

test('constants are read from both languages', async (t) => {
  const ts = await numbersInTypeScript(
    "export const A = 1_000\nexport const B = A / 4\nexport const C = 2 ** 38 - 1\nexport const METRICS = ['cpu', 'qps'] as const",
  )
  const rust = numbersInRust(
    'pub const A: usize = 1_000;\npub const B: usize = A / 4;\npub const C: u64 = (1 << 38) - 1;\npub const CPU: usize = 0;\npub const QPS: usize = 1;\npub const D: u32 = 0x65_6c;\nconst E: u32 = u32::MAX;',
  )
  t.deepEqual(differences(ts, rust, false), [])
  t.deepEqual([ts.get('B'), rust.get('B'), rust.get('D'), rust.get('E')], [250, 250, 0x656c, 4_294_967_295])
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
  t.deepEqual(differences(ts, rust, false), ['B is 2 in TypeScript and 3 in Rust'])
  t.deepEqual(differences(ts, rust, true), [
    'B is 2 in TypeScript and 3 in Rust',
    'C is undefined in TypeScript and 4 in Rust',
  ])
})
