import ConsistentHash from 'consistent-hash'
import HashRing from 'hashring'
import type { BenchCase } from '../case.js'
import { KeyTurn } from '../keys.js'
import { ownLoop } from '../own-loop.js'
import { nodeIds } from '../pool.js'
import { PEER_CASES } from './names.js'

/** Size of the rings that are compared. */
export const RING_NODES = 1_000
export const POINTS = 160

// More than there are points: consistent-hash draws them from this many places, and its own 100,003 are too few.
const PLACES = 1_000_003

/** hashring: md5, 40 x 4 points a node as it comes. It remembers 5,000 keys unless told otherwise. */
export function hashring(remembers?: number): HashRing {
  return new HashRing(
    nodeIds(RING_NODES),
    'md5',
    remembers === undefined ? {} : { 'max cache size': remembers },
  )
}

/** consistent-hash with as many points. */
export function consistentHash(): ConsistentHash {
  const ring = new ConsistentHash({ range: PLACES, controlPoints: POINTS })
  for (const id of nodeIds(RING_NODES)) ring.add(id)
  return ring
}

/** Rings of other packages, asked for 11-character keys. */
export function ringCases(): BenchCase[] {
  const shape = { engine: '-', nodes: RING_NODES, iterations: 10 } as const
  const remembering = hashring()
  const forgetting = hashring(1)
  const consistent = consistentHash()
  const keys = new KeyTurn()
  return [
    {
      ...shape,
      name: PEER_CASES.hashring,
      iterations: 3,
      sample: ownLoop(() => forgetting.get(keys.next())),
    },
    { ...shape, name: PEER_CASES.hashringCached, sample: ownLoop(() => remembering.get(keys.next())) },
    {
      ...shape,
      name: PEER_CASES.consistentHash,
      sample: ownLoop(() => consistent.get(keys.next())),
    },
  ]
}
