import type { Progress } from '../dist/cli/progress.js'
import type { CaseFamily, CaseResult } from './case.js'
import { sampleFloor } from './cases/floor.js'
import type { ThreadsResult } from './cases/threads.js'
import { allFamilies, closeAll, comparedFamilies, listed } from './families.js'
import { loadNow } from './machine.js'
import { Rounds, runRounds } from './run.js'
import type { Settings } from './settings.js'
import { type Steadiness, watchOthers } from './steadiness.js'

/** What the timed cases came to. */
export interface Measured {
  readonly results: readonly CaseResult[]
  readonly threads: readonly ThreadsResult[]
  readonly steadiness: Steadiness
}

/** @param compare only what others do, and what of idlest's does the same */
export async function measureCases(
  settings: Settings,
  progress: Progress,
  compare: boolean,
): Promise<Measured> {
  const loadBefore = loadNow()
  const note = (line: string) => progress.note(line)
  const { families, throughput } = await familiesOf(note, compare)
  const run = new Rounds(listed(families), settings.effort, sampleFloor)
  const others = watchOthers()
  await runRounds(run, settings.rounds, (round, rounds) => progress.step('rounds', round, rounds))
  progress.clear()
  const floor = run.floorSpread()
  const steadiness = {
    ...(floor !== undefined && { floor }),
    loadBefore,
    loadAfter: loadNow(),
    ...others(),
  }
  const threads = throughput()
  await closeAll(families)
  return { results: run.results(), threads, steadiness }
}

async function familiesOf(
  note: (line: string) => void,
  compare: boolean,
): Promise<{ families: CaseFamily[]; throughput: () => ThreadsResult[] }> {
  if (compare) return { families: await comparedFamilies(note), throughput: () => [] }
  const { families, threads } = await allFamilies(note)
  return { families, throughput: () => threads.throughput() }
}
