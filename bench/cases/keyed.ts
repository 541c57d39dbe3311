import { nativeEngine } from '../../dist/engine/native.js'
import { portableEngine } from '../../dist/engine/portable/index.js'
import { type Balancer, createBalancer, createTable, hashRing, type Key, maglev } from '../../dist/index.js'
import { type BenchCase, type CaseFamily, consume } from '../case.js'
import { binding, engines } from '../engines.js'
import { KEYS, KeyTurn } from '../keys.js'
import { ownLoop } from '../own-loop.js'
import { nodeIds } from '../pool.js'

/** Nodes of the tables that are measured. */
export const KEYED_NODES = 1_000

// As many as there are keys: a power of two.
const HASHES = Uint32Array.from(KEYS, (_, i) => Math.imul(i + 1, 0x9e3779b1))
const MASK = HASHES.length - 1

const POINTS = 160
const CELLS = 65_537

/** Names of the cases that have a bar. */
export const KEYED_CASES = {
  ringKey: 'select({ key }), hashRing, 11 characters',
  ringHash: 'selectHash(), hashRing',
  maglevNumber: 'select({ key }), maglev, a number',
  maglevHash: 'selectHash(), maglev',
  bounded: 'select({ key }), hashRing, boundedLoad',
  buildRing: 'build hashRing, 160 points a node',
  buildMaglev: 'build maglev, 65,537 cells',
  ringChange: 'first selectHash(), hashRing, after a member joined or left',
  maglevChange: 'first selectHash(), maglev, after a member joined or left',
} as const

/** Picks by keys, what they wait for when members change, and what tables cost to build. */
export function keyedCases(): CaseFamily {
  const balancers: Balancer<string>[] = []
  const make = (engine: 'native' | 'portable', algorithm: ReturnType<typeof hashRing | typeof maglev>) => {
    const nodes = nodeIds(KEYED_NODES)
    const balancer = createBalancer({ nodes, algorithm, engine, poll: false, table: createTable(), seed: 1 })
    balancers.push(balancer)
    return balancer
  }
  const cases = engines.flatMap((engine): BenchCase[] => {
    const shape = { engine, nodes: KEYED_NODES, iterations: 20 } as const
    const ring = make(engine, hashRing())
    const bounded = make(engine, hashRing({ boundedLoad: 1.25 }))
    const table = make(engine, maglev())
    const keys = new KeyTurn()
    let number = 0
    const pick = (balancer: Balancer<string>, next: () => Key) =>
      ownLoop(() => balancer.select({ key: next() }))
    const hash = (balancer: Balancer<string>) =>
      ownLoop(() => balancer.selectHash(HASHES[number++ & MASK] as number))
    return [
      { ...shape, name: KEYED_CASES.ringKey, sample: pick(ring, () => keys.next()) },
      { ...shape, name: KEYED_CASES.bounded, sample: pick(bounded, () => keys.next()) },
      { ...shape, name: KEYED_CASES.ringHash, sample: hash(ring) },
      { ...shape, name: KEYED_CASES.maglevNumber, sample: pick(table, () => number++) },
      { ...shape, name: KEYED_CASES.maglevHash, sample: hash(table) },
      ...changeCases(engine, make(engine, hashRing()), make(engine, maglev())),
      ...buildCases(engine),
    ]
  })
  return {
    topic: 'keys',
    cases,
    close: async () => {
      for (const balancer of balancers) await balancer.close()
    },
  }
}

function changeCases(
  engine: 'native' | 'portable',
  ring: Balancer<string>,
  table: Balancer<string>,
): BenchCase[] {
  const shape = { engine, nodes: KEYED_NODES, unit: 'change', iterations: 10 } as const
  return [
    { ...shape, name: KEYED_CASES.ringChange, sample: sampleChange(ring) },
    { ...shape, name: KEYED_CASES.maglevChange, sample: sampleChange(table) },
  ]
}

function sampleChange(balancer: Balancer<string>): () => number {
  let hash = 0
  let joins = true
  return () => {
    if (joins) balancer.add('joins')
    else balancer.remove('joins')
    joins = !joins
    hash = (hash + 0x9e3779b1) >>> 0
    const start = performance.now()
    const node = balancer.selectHash(hash)
    const end = performance.now()
    consume(node.length)
    return end - start
  }
}

function buildCases(engine: 'native' | 'portable'): BenchCase[] {
  const { keyTables } = engine === 'native' && binding !== undefined ? nativeEngine(binding) : portableEngine
  const hashes = Uint32Array.from({ length: 2 * KEYED_NODES }, (_, i) => Math.imul(i + 1, 0x9e3779b1))
  const counts = new Uint32Array(KEYED_NODES).fill(POINTS)
  const weights = new Float64Array(KEYED_NODES).fill(1)
  const shape = { engine, nodes: KEYED_NODES, unit: 'table', iterations: 3 } as const
  const timed = (build: () => Uint32Array) => () => {
    const start = performance.now()
    const built = build()
    const end = performance.now()
    consume(built[0] as number)
    return end - start
  }
  return [
    { ...shape, name: KEYED_CASES.buildRing, sample: timed(() => keyTables.ring(hashes, counts).points) },
    {
      ...shape,
      name: KEYED_CASES.buildMaglev,
      sample: timed(() => keyTables.cells(hashes, weights, CELLS)),
    },
  ]
}
