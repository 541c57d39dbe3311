import { readFileSync } from 'node:fs'
import test from 'ava'
import { powerOfTwo } from '../../dist/index.js'
import { shipped } from '../../dist/simulation/policy.js'
import { simulate } from '../../dist/simulation/simulation.js'
import { alike, near, queues } from './support.js'

const vector = JSON.parse(readFileSync(new URL('../vectors/two-choices.json', import.meta.url), 'utf8')) as {
  readonly meanTime: readonly { readonly lambda: number; readonly p: Readonly<Record<string, number>> }[]
}

// The nearer to full and the fewer choices, the longer are queues that were long once, and the more requests it takes.
const requests: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  '0.5': { '0': 200_000, '0.2': 150_000, '0.5': 150_000, '1': 150_000 },
  '0.9': { '0': 1_000_000, '0.2': 700_000, '0.5': 400_000, '1': 300_000 },
}

for (const { lambda, p: means } of vector.meanTime) {
  for (const [p, mean] of Object.entries(means)) {
    test(`at load ${lambda} with ${p} of the picks comparing two, requests take ${mean} service times`, (t) => {
      const choiceRate = Number(p)
      // One balancer sends everything, so what it counts is what there is.
      const policy = shipped('two choices', powerOfTwo({ metric: 'inFlight', choiceRate }))
      const scene = queues(alike(250), lambda, requests[lambda]?.[p] ?? Number.NaN)
      const measured = simulate(scene, policy, 2).response.mean / 10
      t.true(near(measured, mean, lambda === 0.9 && choiceRate === 0 ? 0.05 : 0.03), `${measured}`)
    })
  }
}
