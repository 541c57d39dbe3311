import { hashesOf, KeyTable, weightsOfNodes } from '../../keys/key-table.js'
import type { AlgorithmDefinition } from '../definition.js'
import { byKey, keyless } from '../explain.js'
import { isHashName, isTableSize } from '../keyed.js'
import { random } from '../random/options.js'
import { isKeyOf, isWeightsOption } from '../valid.js'
import { type MaglevAlgorithm, maglev } from './options.js'

/** Picks by a key from a table with as many cells for each node; those without a key are random, as for `hashRing`. */
export const maglevDefinition: AlgorithmDefinition<MaglevAlgorithm> = {
  kind: 'maglev',
  fields: ['tableSize', 'hash', 'weights', 'keyOf'],
  isValid: ({ tableSize, hash, weights, keyOf }) =>
    isKeyOf(keyOf) && isTableSize(tableSize) && isHashName(hash) && isWeightsOption(weights),
  make: maglev,
  explain: { grounds: byKey, reason: keyless },
  engine: ({ weights }) => random(weights === undefined ? {} : { weights }),
  keyed: {
    bound: () => undefined,
    // Without a node its table is another one.
    keepsAbsent: false,
    places: ({ tableSize }) => tableSize,
    build: ({ tableSize }, nodes, tables) =>
      KeyTable.ofCells(nodes, tables.cells(hashesOf(nodes), weightsOfNodes(nodes), tableSize)),
    buildLater: async ({ tableSize }, nodes, tables) =>
      KeyTable.ofCells(nodes, await tables.cellsLater(hashesOf(nodes), weightsOfNodes(nodes), tableSize)),
  },
}
