import type { AlgorithmDefinition } from '../definition.js'
import { random } from '../random/options.js'
import { type CustomAlgorithm, custom } from './options.js'

/** The user's own (`src/balancer/custom.ts`): an engine says who may be picked. */
export const customDefinition: AlgorithmDefinition<CustomAlgorithm> = {
  kind: 'custom',
  fields: ['make'],
  isValid: ({ make }) => typeof make === 'function',
  make: custom,
  explain: { grounds: () => ({ grounds: { code: 'custom' }, words: 'the algorithm decides' }) },
  thinning: () => 'excluded',
  engine: () => random(),
  needs: () => ({ ownThread: true }),
  userMade: ({ make }) => make,
}
