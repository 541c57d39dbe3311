import type { AlgorithmDefinition } from '../definition.js'
import { random } from '../random/options.js'
import { roundRobin } from '../round-robin/options.js'
import { type LocalAlgorithm, local } from './options.js'

/** The local node where it is up (`src/balancer/local-core.ts`); else what an engine draws by another algorithm. */
export const localDefinition: AlgorithmDefinition<LocalAlgorithm> = {
  kind: 'local',
  fields: ['otherwise'],
  isValid: ({ otherwise }) => otherwise === 'random' || otherwise === 'roundRobin',
  make: local,
  explain: {
    grounds: ({ id }, { self }) =>
      id === self
        ? { grounds: { code: 'local' }, words: 'the local node' }
        : { grounds: { code: 'standIn' }, words: 'the local node takes no work' },
    reason: () => ({ reason: { code: 'remote' }, words: 'the local node takes all' }),
  },
  thinning: () => 'excluded',
  engine: ({ otherwise }) => (otherwise === 'roundRobin' ? roundRobin() : random()),
  needs: () => ({ self: true }),
}
