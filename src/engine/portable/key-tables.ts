import type { KeyTables } from '../key-tables.js'
import { buildMaglev } from './maglev.js'
import { buildRing } from './ring.js'
import { atOnce, overTurns } from './slices.js'

/** Builds tables for keys in TypeScript. */
export const portableKeyTables: KeyTables = {
  ring: (hashes, counts) => atOnce(buildRing(hashes, counts)),
  ringLater: (hashes, counts) => overTurns(buildRing(hashes, counts)),
  maglev: (hashes, weights, size) => atOnce(buildMaglev(hashes, weights, size)),
  maglevLater: (hashes, weights, size) => overTurns(buildMaglev(hashes, weights, size)),
}
