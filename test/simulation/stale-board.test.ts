import { readFileSync } from 'node:fs'
import test from 'ava'
import { leastCpu, powerOfTwo, random } from '../../dist/index.js'
import { type Policy, shipped } from '../../dist/simulation/policy.js'
import { BOARD_STEP, reportQueue } from '../../dist/simulation/scene.js'
import { simulate } from '../../dist/simulation/simulation.js'
import { alike, near, queues } from './support.js'

interface Row {
  readonly policy: string
  readonly T: Readonly<Record<string, number>>
}

const vector = JSON.parse(readFileSync(new URL('../vectors/stale-board.json', import.meta.url), 'utf8')) as {
  readonly meanResponse: readonly Row[]
}

const ttl = Number.POSITIVE_INFINITY

// Rows by name, as far as there is an algorithm for them.
const policies: Readonly<Record<string, Policy>> = {
  'two choices on the board': shipped('two', powerOfTwo({ metric: 'cpu', ttl })),
  'least loaded on the board': shipped('least', leastCpu({ threshold: 0, ttl })),
  'band (min + 1) on the board': shipped('band', leastCpu({ threshold: BOARD_STEP, ttl })),
}

/** Mean response in service times: 100 servers at load 0.9, queue lengths published every `T` service times. */
function meanResponse(policy: Policy, T: number, requests = 300_000): number {
  const scene = { ...queues(alike(100), 0.9, requests), reportInterval: T * 10, report: reportQueue }
  return simulate(scene, policy, 1).response.mean / 10
}

for (const { policy: name, T: means } of vector.meanResponse) {
  const policy = policies[name]
  if (policy === undefined) continue
  for (const [T, mean] of Object.entries(means)) {
    test(`${name}, T = ${T}: ${mean}`, (t) => {
      const measured = meanResponse(policy, Number(T))
      if (mean <= 100) t.true(near(measured, mean, 0.1), `${measured}`)
      // It never settles: the order of magnitude is all there is.
      else t.true(Math.abs(Math.log10(measured / mean)) < 0.5, `${measured}`)
    })
  }
}

test('the rows that there is an algorithm for are in the file', (t) => {
  const names = vector.meanResponse.map(({ policy }) => policy)
  t.deepEqual(
    Object.keys(policies).filter((name) => !names.includes(name)),
    [],
  )
})

test('random: 10, whatever the board says', (t) => {
  const measured = meanResponse(shipped('random', random()), 10, 600_000)
  t.true(near(measured, 10, 0.1), `${measured}`)
})
