import { type Balancer, configure, select } from '../../dist/index.js'
import { type BenchCase, type CaseFamily, consume, UNITS } from '../case.js'
import { Chance } from '../chance.js'
import { engines } from '../engines.js'
import { algorithm, Pool } from '../pool.js'

type Nodes = readonly string[]

/** Fresh arrays in a sample: so few that they are still in the cache, as one is that was just made. */
const FRESH = 100

// A method and a function are two loops each, so that the call in each has one target, as in a user's code.
function sampleSame(balancer: Balancer<string>, nodes: Nodes): () => number {
  return () => {
    let sum = 0
    const start = performance.now()
    for (let i = 0; i < UNITS; i++) sum += balancer.select(nodes).length
    const end = performance.now()
    consume(sum)
    return (end - start) / UNITS
  }
}

function sampleSameDropIn(nodes: Nodes): () => number {
  return () => {
    let sum = 0
    const start = performance.now()
    for (let i = 0; i < UNITS; i++) sum += select(nodes).length
    const end = performance.now()
    consume(sum)
    return (end - start) / UNITS
  }
}

function sampleFresh(balancer: Balancer<string>, makeArrays: () => Nodes[]): () => number {
  return () => {
    const arrays = makeArrays()
    let sum = 0
    const start = performance.now()
    for (let i = 0; i < arrays.length; i++) sum += balancer.select(arrays[i] as Nodes).length
    const end = performance.now()
    consume(sum)
    return (end - start) / arrays.length
  }
}

function sampleFreshDropIn(makeArrays: () => Nodes[]): () => number {
  return () => {
    const arrays = makeArrays()
    let sum = 0
    const start = performance.now()
    for (let i = 0; i < arrays.length; i++) sum += select(arrays[i] as Nodes).length
    const end = performance.now()
    consume(sum)
    return (end - start) / arrays.length
  }
}

function sampleFilter(nodes: Nodes): () => number {
  return () => {
    let sum = 0
    const start = performance.now()
    for (let i = 0; i < UNITS; i++) {
      const tried = nodes[i % nodes.length]
      sum += select(nodes.filter((node) => node !== tried)).length
    }
    const end = performance.now()
    consume(sum)
    return (end - start) / UNITS
  }
}

function sampleRandom(nodes: Nodes): () => number {
  return () => {
    let sum = 0
    const start = performance.now()
    for (let i = 0; i < UNITS; i++) sum += (nodes[Math.floor(Math.random() * nodes.length)] as string).length
    const end = performance.now()
    consume(sum)
    return (end - start) / UNITS
  }
}

/**
 * Picks from arrays that are passed: the same one again, and a fresh one each call. Fresh ones are made before the
 * clock starts, `count` of the pool's nodes by chance, so that no two are alike; with `filter` the making is in it.
 */
export async function arrayCases(): Promise<CaseFamily> {
  const small = new Pool(64)
  const large = new Pool(10_000)
  await configure({ table: small.table, algorithm, seed: 1 })
  const chance = new Chance(7)
  const beforeRound = () => small.publish()
  const cases: BenchCase[] = []
  for (const nodes of [8, 64]) {
    const shape = { nodes, iterations: 20, beforeRound }
    const fresh = { ...shape, iterations: nodes === 8 ? 40 : 10 }
    const array = small.ids.slice(0, nodes)
    const makeArrays = () => arraysOf(small.ids, nodes, chance)
    cases.push(
      { ...shape, name: 'select(sameArray)', engine: '-', sample: sampleSameDropIn(array) },
      { ...fresh, name: 'select(freshArray)', engine: '-', sample: sampleFreshDropIn(makeArrays) },
      {
        ...shape,
        iterations: nodes === 8 ? 10 : 3,
        name: 'select(array.filter(…))',
        engine: '-',
        sample: sampleFilter(array),
      },
      { ...shape, name: 'array[random]', engine: '-', sample: sampleRandom(array) },
    )
    for (const engine of engines) {
      const same = sampleSame(small.balancer(engine), array)
      cases.push(
        { ...shape, name: 'balancer.select(sameArray)', engine, sample: same },
        {
          ...fresh,
          name: 'balancer.select(freshArray)',
          engine,
          sample: sampleFresh(small.balancer(engine), makeArrays),
        },
      )
    }
  }
  cases.push({
    name: 'balancer.select(freshArray), 10,000 known',
    engine: engines[0] ?? 'portable',
    nodes: 8,
    iterations: 10,
    beforeRound: () => large.publish(),
    sample: sampleFresh(large.balancer(engines[0] ?? 'portable'), () => arraysOf(large.ids, 8, chance)),
  })
  return {
    topic: 'arrays',
    cases,
    close: async () => {
      await configure({})
      await small.close()
      await large.close()
    },
  }
}

function arraysOf(ids: Nodes, length: number, chance: Chance): Nodes[] {
  return Array.from({ length: FRESH }, () => {
    const array: string[] = []
    for (let i = 0; i < length; i++) array.push(ids[chance.below(ids.length)] as string)
    return array
  })
}
