import test from 'ava'
import { doubts, verdict, watchOthers } from '../../bench/steadiness.js'

const quiet = { loadBefore: 0.5, loadAfter: 1, others: 0.02 }

test('the verdict is by how far the floor goes up and down', (t) => {
  const at = (p90: number) => verdict({ ...quiet, floor: { median: 20, p10: 20, p90 } })
  t.regex(at(22), /a steady machine/)
  t.regex(at(30), /look at ratios/)
  t.regex(at(50), /an unsteady machine/)
  t.regex(verdict(quiet), /no floor/)
})

test('nothing is doubted on a quiet machine', (t) => {
  t.deepEqual(doubts({ ...quiet, floor: { median: 20, p10: 19, p90: 30 } }), [])
})

test('what others used, what the host took and a load before are doubted', (t) => {
  t.regex(doubts({ ...quiet, others: 0.3 })[0] ?? '', /others used 30\.0 %/)
  t.regex(doubts({ ...quiet, stolen: 0.2 })[0] ?? '', /host took 20\.0 %/)
  t.deepEqual(doubts({ ...quiet, loadBefore: 5 }), [])
})

test('others are all but this process', (t) => {
  const ask = watchOthers()
  const end = performance.now() + 50
  while (performance.now() < end);
  const { others } = ask()
  t.true(others >= 0 && others <= 1)
})
