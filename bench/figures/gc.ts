import { firstMessage, startChild } from './child.js'

/** Garbage collections during picks. */
export interface GcResult {
  readonly engine: 'native' | 'portable'
  readonly cases: {
    name: string
    picks: number
    collections: number
    /** Growth of the heap; with no collection, what was allocated. */
    bytesPerPick: number
  }[]
}

/** Counts collections in a process of its own. */
export async function countCollections(
  engine: 'native' | 'portable',
  { warmUp, picks }: { warmUp: number; picks: number },
): Promise<GcResult> {
  const args = [engine, `${warmUp}`, `${picks}`]
  // --expose-gc: each count starts from a heap that has just been collected.
  const child = startChild(new URL('./gc-child.ts', import.meta.url), args, ['--expose-gc'])
  return (await firstMessage(child)) as GcResult
}
