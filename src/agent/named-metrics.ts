import { OptionError } from '../errors.js'
import { ignoreRejection } from '../rejections.js'
import { MAX_VALUE } from '../reports/values.js'
import type { ReportPart, ReportSource } from './source.js'

/** A metric of the user's own: a number, or a function that gives it. */
export type NamedValue = number | (() => number)

/** What came of the user's own metrics. */
export interface NamedCounters {
  /** Values that were left out of the report: no finite number within 1e12 (a promise is none), or the function threw. */
  readonly bad: number
}

/** How many metrics of the user's own a report takes, and how long their names may be: reports must stay small. */
const MOST = 100
const LONGEST_NAME = 128

// These travel beside the user's, and mean something of their own.
const RESERVED: ReadonlySet<string> = new Set(['age_ms', 'in_flight', 'latency_ms', 'queue_delay_ms'])

/** What {@link isMetricName} takes. */
export const METRIC_NAME = `a name of 1 to ${LONGEST_NAME} visible ASCII characters without , = and :, other than ${[...RESERVED].join(', ')} and those that start with idlest_`

/** Whether a metric of the user's may be called so, in every form that a report is written in. */
export function isMetricName(name: unknown): name is string {
  return (
    typeof name === 'string' &&
    name.length <= LONGEST_NAME &&
    /^(?:(?![,=:])[!-~])+$/.test(name) &&
    !RESERVED.has(name) &&
    !name.startsWith('idlest_')
  )
}

export function isNamedValue(value: unknown): value is NamedValue {
  return typeof value === 'number' || typeof value === 'function'
}

/**
 * The user's own metrics. Numbers stay until they are set anew, and don't age; functions are called in each
 * background sample. What is no finite number is left out until it is one again, and counted.
 */
export class NamedMetrics implements ReportSource {
  readonly counters = { bad: 0 }
  readonly #functions = new Map<string, () => number>()
  readonly #values = new Map<string, number>()

  /**
   * @param value undefined takes the metric out
   * @throws OptionError for a bad name, a value that is neither a number nor a function, and for one metric too many
   */
  set(name: string, value: NamedValue | undefined): void {
    if (!isMetricName(name)) throw new OptionError('name', name, METRIC_NAME)
    if (value !== undefined && !isNamedValue(value)) {
      throw new OptionError('value', value, 'a number, a function that gives one, or undefined')
    }
    this.#functions.delete(name)
    this.#values.delete(name)
    if (value === undefined) return
    if (new Set([...this.#functions.keys(), ...this.#values.keys()]).size >= MOST) {
      throw new OptionError('name', name, `at most ${MOST} metrics`)
    }
    if (typeof value === 'number') this.#take(name, value)
    else this.#functions.set(name, value)
  }

  sample(): void {
    for (const [name, give] of this.#functions) {
      this.#values.delete(name)
      try {
        this.#take(name, give())
      } catch {
        this.counters.bad++
      }
    }
  }

  part(): ReportPart {
    if (this.#values.size === 0) return { report: {}, age: 0 }
    // fromEntries defines properties: a metric called `__proto__` stays a metric.
    return { report: { named: Object.fromEntries(this.#values) }, age: 0 }
  }

  #take(name: string, value: unknown): void {
    if (typeof value === 'number' && Math.abs(value) <= MAX_VALUE) this.#values.set(name, value + 0)
    else {
      this.counters.bad++
      ignoreRejection(value)
    }
  }
}
