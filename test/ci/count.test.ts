import test from 'ava'
import { CargoCount, closingLine, sum, withExit } from '../../.ci/count.mjs'

function cargo(output: string) {
  const counter = new CargoCount()
  for (const line of output.split('\n')) counter.read(line)
  return counter.count
}

test('cargo results of several binaries and of doc tests are added up', (t) => {
  const count = cargo(`
running 2 tests
test band::tests::one_member ... ok
test band::tests::none ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/loom.rs (target/debug/deps/loom-1b2c)
test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.20s

   Doc-tests idlest_core
test result: ok. 40 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.31s
`)
  t.deepEqual(count, { passed: 45, failed: 2, skipped: 1 })
})

test('coloured cargo results are counted', (t) => {
  const count = cargo(
    'test result: \x1b[32mok\x1b[0m. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out',
  )
  t.is(count.passed, 7)
})

test('what a test prints of a result is not counted as one', (t) => {
  const count = cargo('note: test result: ok. 7 passed; 0 failed; 0 ignored;')
  t.deepEqual(count, { passed: 0, failed: 0, skipped: 0 })
})

test('a runner that fails without a failed test counts as one failure', (t) => {
  t.deepEqual(withExit({ passed: 3, failed: 0, skipped: 0 }, 101), { passed: 3, failed: 1, skipped: 0 })
  t.deepEqual(withExit({ passed: 3, failed: 2, skipped: 0 }, 101), { passed: 3, failed: 2, skipped: 0 })
  t.deepEqual(withExit({ passed: 3, failed: 0, skipped: 0 }, 0), { passed: 3, failed: 0, skipped: 0 })
})

test('the closing line has the sums', (t) => {
  const total = sum([
    { passed: 12, failed: 0, skipped: 1 },
    { passed: 30, failed: 2, skipped: 0 },
  ])
  t.is(closingLine(total), '42 passed, 2 failed')
})
