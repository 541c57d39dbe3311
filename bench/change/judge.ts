import { writeFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import { type Change, changesTable, hasSlowed, THRESHOLD } from './compare.js'

/** Options of all that judges changes. */
export interface Judging {
  readonly threshold?: number
  readonly markdown?: string
}

/** The option of commander. */
export const thresholdOption: [flags: string, about: string, parse: (text: string) => number] = [
  '--threshold <times>',
  `how many times as long is too long; ${THRESHOLD} unless told otherwise`,
  (text) => {
    const times = Number(text)
    if (!(times > 1)) throw new InvalidArgumentError('Expected a number above 1, such as 1.25.')
    return times
  },
]

export function thresholdOf({ threshold = THRESHOLD }: Judging): number {
  return threshold
}

/** Prints what changed, and has the process exit with 1 where something got slower. */
export function judge(changes: readonly Change[], options: Judging): void {
  const text = changesTable(changes, thresholdOf(options))
  console.log(text)
  if (options.markdown !== undefined) writeFileSync(options.markdown, `${text}\n`)
  if (hasSlowed(changes)) process.exitCode = 1
}
