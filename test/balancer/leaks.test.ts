import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'

const run = promisify(execFile)
const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))

test('an hour of balancers, churn and ever new arrays leaks no slot, handle or heap', async (t) => {
  const { stdout } = await run(process.execPath, ['--expose-gc', fixture('hour.mjs')], { maxBuffer: 2 ** 20 })
  const { slots, handles, heap, timers } = JSON.parse(stdout)
  t.is(slots.after, slots.before)
  t.is(timers, 0)
  t.deepEqual(handles.after, handles.before)
  // What the engine of the language itself keeps goes up and down by some 100 KB.
  t.true(heap.after - heap.before < 1_000_000, `heap grew by ${heap.after - heap.before} bytes`)
})
