import type { CaseName } from '../case.js'
import { caseOf } from '../cases/algorithms.js'
import { KEYED_CASES } from '../cases/keyed.js'
import { PEER_CASES } from './names.js'

/** Something that people need done, and the cases that do it, by their names: idlest's own, and those of others. */
export interface Job {
  readonly job: string
  readonly ours: readonly string[]
  readonly theirs: readonly string[]
}

export const JOBS: readonly Job[] = [
  {
    job: 'servers in turn',
    ours: [caseOf('roundRobin')],
    theirs: [PEER_CASES.roundRobin],
  },
  {
    job: 'a server at random',
    ours: [caseOf('random')],
    theirs: [PEER_CASES.randomBalancer, 'array[random]'],
  },
  {
    job: 'by how busy servers are, or by what they were sent',
    ours: ['select()', caseOf('leastConnections')],
    theirs: [PEER_CASES.twoChoices, PEER_CASES.balancedPool],
  },
  {
    job: 'by weights',
    ours: [caseOf('weightedRoundRobin, alike')],
    theirs: [PEER_CASES.weightedRoundRobin],
  },
  {
    job: 'by a key of 11 characters, on a ring with 160 points a server',
    ours: [KEYED_CASES.ringKey],
    theirs: [PEER_CASES.consistentHash, PEER_CASES.hashringCached, PEER_CASES.hashring],
  },
  {
    job: 'a call of gRPC: its pick, begin and end',
    ours: [PEER_CASES.ourWeighted, PEER_CASES.ourAdaptive],
    theirs: [PEER_CASES.roundRobin, PEER_CASES.weightedRoundRobin, PEER_CASES.pickFirst],
  },
]

const named = new Set(JOBS.flatMap(({ ours, theirs }) => [...ours, ...theirs]))

/** Whether a case is one of those that are compared. */
export function isCompared({ name }: CaseName): boolean {
  return named.has(name)
}
