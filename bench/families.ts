import { type CaseFamily, TOPICS, type Topic } from './case.js'
import { algorithmCases } from './cases/algorithms.js'
import { arrayCases } from './cases/arrays.js'
import { changesCases } from './cases/changes.js'
import { floorCases } from './cases/floor.js'
import { keyedCases } from './cases/keyed.js'
import { leaseCases } from './cases/leases.js'
import { mixedCases } from './cases/mixed.js'
import { naiveCases } from './cases/naive.js'
import { pickCases } from './cases/picks.js'
import { publishingCases } from './cases/publishing.js'
import { sharedFileCases } from './cases/shared-file.js'
import { type ThreadsFamily, threadCases } from './cases/threads.js'
import { peerCases } from './compare/index.js'
import { isCompared } from './compare/jobs.js'
import type { Listed } from './run.js'

type Make = (note: (line: string) => void) => CaseFamily | Promise<CaseFamily>

// In the order of the tables.
const OWN: readonly { readonly topic: Topic; readonly make: Make }[] = [
  { topic: 'floor', make: floorCases },
  { topic: 'picks', make: pickCases },
  { topic: 'algorithms', make: algorithmCases },
  { topic: 'keys', make: keyedCases },
  { topic: 'picks', make: mixedCases },
  { topic: 'arrays', make: arrayCases },
  { topic: 'naive', make: naiveCases },
  { topic: 'leases', make: leaseCases },
  { topic: 'changes', make: publishingCases },
  { topic: 'changes', make: changesCases },
  { topic: 'files', make: sharedFileCases },
]

/**
 * All cases of idlest itself that run on one thread.
 * @param topics those alone; default all
 */
export async function ownFamilies(
  note: (line: string) => void,
  topics: readonly Topic[] = TOPICS,
): Promise<CaseFamily[]> {
  const families: CaseFamily[] = []
  for (const { topic, make } of OWN) if (topics.includes(topic)) families.push(await make(note))
  return families
}

/** Everything: idlest's own, those of others, and those of several threads. */
export async function allFamilies(
  note: (line: string) => void,
): Promise<{ families: CaseFamily[]; threads: ThreadsFamily }> {
  // Threads first: they start from a small process.
  const threads = await threadCases()
  return { families: [...(await ownFamilies(note)), peerCases(), threads], threads }
}

/** What others do, and what of idlest's does the same. */
export async function comparedFamilies(note: (line: string) => void): Promise<CaseFamily[]> {
  const own = await ownFamilies(note, ['floor', 'picks', 'algorithms', 'keys', 'arrays'])
  return [...own, peerCases()].map((family) =>
    family.topic === 'floor' ? family : { ...family, cases: family.cases.filter(isCompared) },
  )
}

/** The cases of families, each with its topic. */
export function listed(families: readonly CaseFamily[]): Listed[] {
  return families.flatMap(({ topic, cases }) => cases.map((of) => ({ topic, of })))
}

export async function closeAll(families: readonly CaseFamily[]): Promise<void> {
  for (const family of families) await family.close?.()
}
