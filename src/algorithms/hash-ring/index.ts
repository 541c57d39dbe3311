import type { KeyTables } from '../../engine/key-tables.js'
import { TableError } from '../../errors.js'
import { hashesOf, type KeyNode, KeyTable } from '../../keys/key-table.js'
import type { AlgorithmDefinition } from '../definition.js'
import { byKey, keyless } from '../explain.js'
import { isHashName, MOST_POINTS, MOST_RING_POINTS } from '../keyed.js'
import { random } from '../random/options.js'
import { isKeyOf, isNumberFrom, isWhole } from '../valid.js'
import { isWeights } from '../weights.js'
import { type HashRingAlgorithm, hashRing } from './options.js'

/*
 * The exact meaning of its draws, which both engines follow; `EngineCore` in `src/engine/engine.ts` has the words.
 *
 * Picks without a key are those of `random`. Picks by keys look up the table that an engine builds: `buildRing` in
 * `table.ts` defines it, and `src/balancer/keyed-picks.ts` looks it up.
 */
export const hashRingDefinition: AlgorithmDefinition<HashRingAlgorithm> = {
  kind: 'hashRing',
  fields: ['points', 'hash', 'boundedLoad', 'weights', 'keyOf'],
  isValid: ({ points, hash, boundedLoad, weights, keyOf }) =>
    isKeyOf(keyOf) &&
    isWhole(points, 1, MOST_POINTS) &&
    isHashName(hash) &&
    (boundedLoad === undefined || isNumberFrom(boundedLoad, 1, Number.MAX_VALUE)) &&
    (weights === undefined || isWeights(weights, MOST_POINTS / points)),
  make: hashRing,
  explain: { grounds: byKey, reason: keyless },
  // Picks by keys are looked up elsewhere; those without are random.
  engine: ({ weights }) => random(weights === undefined ? {} : { weights }),
  keyed: {
    bound: ({ boundedLoad }) => boundedLoad,
    keepsAbsent: true,
    places: ({ points }, nodes, weight) => points * weight + nodes,
    build: (algorithm, nodes, tables: KeyTables) =>
      KeyTable.ofRing(nodes, tables.ring(hashesOf(nodes), countsOf(algorithm, nodes))),
    buildLater: async (algorithm, nodes, tables: KeyTables) =>
      KeyTable.ofRing(nodes, await tables.ringLater(hashesOf(nodes), countsOf(algorithm, nodes))),
  },
}

// A node's points depend on its own weight alone, so that no other's keys move when it changes.
function countsOf({ points }: HashRingAlgorithm, nodes: readonly KeyNode[]): Uint32Array {
  const counts = Uint32Array.from(nodes, ({ weight }) => Math.max(1, Math.floor(points * weight + 0.5)))
  const sum = counts.reduce((sum, count) => sum + count, 0)
  if (sum <= MOST_RING_POINTS) return counts
  throw new TableError(
    `the members of hashRing() have ${sum} points, and a ring at most ${MOST_RING_POINTS}: give it fewer points, or less weight`,
    sum,
  )
}
