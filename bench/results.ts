import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Bar, Figures } from './bars.js'
import type { CaseResult } from './case.js'
import type { ThreadsResult } from './cases/threads.js'
import type { Machine } from './machine.js'
import type { Steadiness } from './steadiness.js'
import type { Versions } from './versions.js'

/** All that a run of the bench found: what pages are made of, and what runs are compared by. */
export interface Results {
  /** When it ended, by ISO 8601. */
  readonly date: string
  /** How long it took, s. */
  readonly took: number
  /** Whether it was a quick one, whose figures say nothing. */
  readonly quick: boolean
  readonly rounds: number
  readonly machine: Machine
  readonly versions: Versions
  /** Absent where no cases were measured. */
  readonly steadiness?: Steadiness
  readonly cases: readonly CaseResult[]
  readonly threads: readonly ThreadsResult[]
  readonly figures: Figures
  readonly bars: readonly Bar[]
}

/** The results that are kept in the repository. */
const KEPT = fileURLToPath(new URL('results.json', import.meta.url))

export function readResults(file: string = KEPT): Results | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : undefined
}

export function writeResults(results: object, file: string = KEPT): void {
  writeFileSync(file, `${JSON.stringify(results, rounded, 2)}\n`)
}

const DIGITS = 5

// Nothing is measured any finer, and a diff of two files can be read.
function rounded(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value
  return Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : null
}
