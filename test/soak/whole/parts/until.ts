import { setTimeout as delay } from 'node:timers/promises'

/** Resolves once it is so, or after so many ms: who counts says what is wrong. */
export async function until(isSo: () => boolean, most = 15_000): Promise<void> {
  for (let waited = 0; waited < most && !isSo(); waited += 50) await delay(50)
}
