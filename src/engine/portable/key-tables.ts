import { buildRing } from '../../algorithms/hash-ring/table.js'
import { buildMaglev } from '../../algorithms/maglev/table.js'
import type { KeyTables } from '../key-tables.js'
import { atOnce, overTurns } from './slices.js'

/** Builds tables for keys in TypeScript. */
export const portableKeyTables: KeyTables = {
  ring: (hashes, counts) => atOnce(buildRing(hashes, counts)),
  ringLater: (hashes, counts) => overTurns(buildRing(hashes, counts)),
  cells: (hashes, weights, size) => atOnce(buildMaglev(hashes, weights, size)),
  cellsLater: (hashes, weights, size) => overTurns(buildMaglev(hashes, weights, size)),
}
