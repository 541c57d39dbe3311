import { type Meter, reportOf } from '../meter/meter.js'
import type { Report } from '../report.js'

/** What a source says. */
export interface ReportPart {
  /** Without an age. */
  readonly report: Report
  /** How old the oldest value in it is, ms; 0 where it is of now. */
  readonly age: number
}

/** Gives a part of an agent's report. Its methods must be quick and must not throw. */
export interface ReportSource {
  /** Called in each background sample, once the sampler has answered: what costs something is done here. */
  sample?(): void
  /** What it says now; called for each answer. */
  part(): ReportPart
}

/** What meters say. */
export function meterSource(meters: readonly Meter[]): ReportSource {
  return {
    part() {
      const samples = meters.map((one) => one.sample())
      return { report: reportOf(samples), age: Math.max(0, ...samples.map(({ age }) => age)) }
    },
  }
}
