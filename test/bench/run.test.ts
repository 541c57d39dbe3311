import test from 'ava'
import type { BenchCase } from '../../bench/case.js'
import { runCases } from '../../bench/run.js'
import { quick } from '../../bench/settings.js'

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

test('floors are those of the same moment, however the clock goes', async (t) => {
  const machine = new Machine()
  const cases = [machine.case('two', 0.002), machine.case('three', 0.003)]
  const onRound = (round: number) => {
    machine.slowness = [1, 2, 1, 5, 0.5][round % 5] as number
  }
  const results = await runCases(cases, { ...quick, rounds: 7 }, onRound, () => machine.floor())
  t.deepEqual(
    results.map(({ name, floors }) => [name, floors?.toFixed(6)]),
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
    quick,
    () => {},
    () => (taken ? 0.003 : 0.001),
  )
  t.is(result?.floors?.toFixed(6), '1.000000')
})

test('without a floor there are times alone', async (t) => {
  const [result] = await runCases([new Machine().case('two', 0.002)], quick, () => {})
  t.is(result?.floors, undefined)
  t.is(result?.nsPerPick.toFixed(3), '2000.000')
})
