import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTable, leastConnections, random } from '../../dist/index.js'
import type { BenchCase, CaseFamily } from '../case.js'
import { engines } from '../engines.js'
import { Pool } from '../pool.js'
import { LEASES, sampleLeases } from './leases.js'
import { sampleSelect } from './picks.js'

/** Names of the cases. */
export const FILE_CASES = {
  select: 'select() over a file',
  random: 'select() over a file, random',
  least: 'select() over a file, leastConnections',
  leases: `${LEASES} over a file`,
} as const

/** What a pick over a file's table may cost at most, in floors. */
export const FILE_AT_MOST = 2

const NODES = 8

/** Picks over a table in a file, which another opening of it shares as another process would. Linux alone has such. */
export function sharedFileCases(): CaseFamily {
  if (process.platform !== 'linux' || !engines.includes('native')) return { topic: 'files', cases: [] }
  const folder = mkdtempSync(join(tmpdir(), 'idlest-bench-'))
  const file = join(folder, 'table')
  const pool = new Pool(NODES, createTable({ file }))
  const others = new Pool(NODES, createTable({ file }))
  const shape = {
    engine: 'native' as const,
    nodes: NODES,
    iterations: 20,
    beforeRound: () => others.publish(),
  }
  const cases: BenchCase[] = [
    { ...shape, name: FILE_CASES.select, sample: sampleSelect(pool.balancer('native')) },
    { ...shape, name: FILE_CASES.random, sample: sampleSelect(pool.balancer('native', random())) },
    { ...shape, name: FILE_CASES.least, sample: sampleSelect(pool.balancer('native', leastConnections())) },
    {
      ...shape,
      name: FILE_CASES.leases,
      unit: 'pick and release',
      sample: sampleLeases(pool.balancer('native', leastConnections())),
    },
  ]
  return {
    topic: 'files',
    cases,
    close: async () => {
      await pool.close()
      await others.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
