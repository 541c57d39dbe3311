import type { Bar } from '../bars.js'
import { type CaseName, type CaseResult, type Doer, keyOf } from '../case.js'
import { digits, spread } from '../numbers.js'
import type { Results } from '../results.js'
import { bold } from './markdown.js'

/** Stands where something was not measured. */
export const NONE = '-'

/** Finds the numbers of a run, as pages show them. */
export class Lookup {
  readonly results: Results

  constructor(results: Results) {
    this.results = results
  }

  find(name: string, engine: Doer, nodes: number): CaseResult | undefined {
    const key = keyOf({ name, engine, nodes })
    return this.results.cases.find((one) => keyOf(one) === key)
  }

  bar({ name, engine, nodes }: CaseName): Bar | undefined {
    const key = keyOf({ name, engine, nodes })
    return this.results.bars.find(({ of }) => of !== undefined && keyOf(of) === key)
  }

  /** `17.2 ns` */
  ns(name: string, engine: Doer, nodes: number): string {
    const found = this.find(name, engine, nodes)
    return found === undefined ? NONE : `${digits(found.ns.median)} ns`
  }

  /** To the floor, in bold where the bar for it is missed: `0.531` */
  floors(name: string, engine: Doer, nodes: number): string {
    const found = this.find(name, engine, nodes)
    if (found?.floors === undefined) return NONE
    return this.#marked(found, digits(found.floors.median))
  }

  /** What is wanted at most, as the bar says it. */
  atMost(name: string, engine: Doer, nodes: number): string {
    const bar = this.bar({ name, engine, nodes })
    return bar === undefined ? '' : wanted(bar)
  }

  /** Median and spread, ns. */
  time({ ns }: CaseResult): string {
    return spread(ns)
  }

  /** Median and spread, floors; in bold where the bar is missed. */
  ratio(result: CaseResult): string {
    return result.floors === undefined ? NONE : this.#marked(result, spread(result.floors))
  }

  #marked(result: CaseResult, text: string): string {
    return this.bar(result)?.met === false ? bold(text) : text
  }
}

/** `1.20`, or `10.0 ms` where it is a time. */
function wanted({ atMost, unit }: Bar): string {
  return unit === 'times' ? digits(atMost) : `${digits(atMost)} ${unit}`
}
