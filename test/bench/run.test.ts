import test from 'ava'
import type { BenchCase, CaseResult } from '../../bench/case.js'
import { Rounds, runRounds } from '../../bench/run.js'

// A machine whose clock changes at each round: in ms, as cases tell them.
class Machine {
  slowness = 1

  case(name: string, ms: number): BenchCase {
    return { name, engine: '-', nodes: 1, iterations: 20, sample: () => ms * this.slowness }
  }

  floor(): number {
    return 0.001 * this.slowness
  }
}

async function runCases(
  cases: readonly BenchCase[],
  rounds: number,
  onRound: (round: number) => void,
  floor?: () => number,
): Promise<CaseResult[]> {
  const run = new Rounds(
    cases.map((of) => ({ topic: 'picks', of })),
    0.1,
    floor,
  )
  await runRounds(run, rounds, onRound)
  return run.results()
}

test('floors are those of the same moment, however the clock goes', async (t) => {
  const machine = new Machine()
  const cases = [machine.case('two', 0.002), machine.case('three', 0.003)]
  const onRound = (round: number) => {
    machine.slowness = [1, 2, 1, 5, 0.5][round % 5] as number
  }
  const results = await runCases(cases, 7, onRound, () => machine.floor())
  t.deepEqual(
    results.map(({ name, floors }) => [name, floors?.median.toFixed(6)]),
    [
      ['two', '2.000000'],
      ['three', '3.000000'],
    ],
  )
})

test('a floor that changes during a case counts by half', async (t) => {
  let taken = false
  const case2: BenchCase = {
    name: 'two',
    engine: '-',
    nodes: 1,
    iterations: 10,
    beforeRound: () => {
      taken = false
    },
    sample: () => {
      taken = true
      return 0.002
    },
  }
  const [result] = await runCases(
    [case2],
    2,
    () => {},
    () => (taken ? 0.003 : 0.001),
  )
  t.is(result?.floors?.median.toFixed(6), '1.000000')
})

test('without a floor there are times alone', async (t) => {
  const [result] = await runCases([new Machine().case('two', 0.002)], 2, () => {})
  t.is(result?.floors, undefined)
  t.is(result?.ns.median.toFixed(3), '2000.000')
})

test('a round tells what each case came to, and the floor is told over all rounds that count', (t) => {
  const machine = new Machine()
  const cases = [{ topic: 'picks' as const, of: machine.case('two', 0.002) }]
  const run = new Rounds(cases, 1, () => machine.floor())
  machine.slowness = 100
  run.run(false)
  machine.slowness = 1
  const [first] = run.run()
  t.is(first?.key, 'two · 1 nodes')
  t.is(first?.ns.toFixed(3), '2000.000')
  machine.slowness = 3
  run.run()
  t.is(run.floorSpread()?.median.toFixed(3), '2000.000')
  t.is(run.results()[0]?.ns.median.toFixed(3), '4000.000')
})
