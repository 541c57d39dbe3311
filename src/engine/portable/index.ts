import type { Engine } from '../engine.js'
import { PortableCore } from './core.js'
import { portableKeyTables } from './key-tables.js'

/** The engine in TypeScript: needs no addon, runs in browsers, Bun and Deno. */
export const portableEngine: Engine = {
  name: 'portable',
  keyTables: portableKeyTables,
  createCore: (memory, algorithm, seed, thread = 0) => new PortableCore(memory, algorithm, seed, thread),
}
