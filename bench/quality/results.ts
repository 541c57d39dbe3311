import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Outcome } from './run.js'

/** What a run of `npm run quality` found. */
export interface QualityResults {
  /** When it ended, by ISO 8601. */
  readonly date: string
  readonly commit?: string
  /** Runs of each scene. */
  readonly seeds: number
  /** Which part of a scene's requests was simulated. */
  readonly requests: number
  readonly outcomes: readonly Outcome[]
}

/** The results that are kept in the repository. */
export const KEPT_QUALITY = fileURLToPath(new URL('../quality.json', import.meta.url))

export function readQuality(file: string = KEPT_QUALITY): QualityResults | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as QualityResults) : undefined
}
