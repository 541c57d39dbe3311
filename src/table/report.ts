import type { KeptReport, Report } from '../report.js'
import * as layout from './layout.js'
import type { TableMemory } from './memory.js'
import { findMetric, keepsNamed } from './metric-names.js'
import { forgetMetric } from './metric-word.js'
import {
  clamped,
  decodeReading,
  encodeReading,
  type MutableReading,
  type WriteResult,
  writeReading,
} from './reading.js'

/** What became of a report that was offered to the table; `empty`: it has nothing that the table keeps. */
export type StoreResult = WriteResult | 'empty'

/** One metric, taken out of the table at one moment. Reused: copy what is to be kept. */
export interface MutableMetric {
  /** Table time of the sample, ms. */
  time: number
  /** The value, in single precision; NaN where there is none. */
  value: number
}

const { METRIC_TIME_BITS, TAG_BITS } = layout
const TAG_MASK = (1 << TAG_BITS) - 1
const TIME_CYCLE = 2 ** METRIC_TIME_BITS

/** Metrics that later reports have lacked for so long, ms, are cleared; looked at once in such a time. */
const KEPT = TIME_CYCLE / 8

const LARGEST = 3.4028234663852886e38

// A metric's word is put together and taken apart by way of memory, as readings are.
const whole = new BigUint64Array(1)
const halves = new Uint32Array(whole.buffer)
const single = new Float32Array(1)
const singleBits = new Uint32Array(single.buffer)
const last: MutableReading = { time: 0, tag: 0, value: 0 }

function metricIndex(slot: number, metric: number): number {
  return (layout.slotWord(slot) + layout.METRICS_WORD) / 2 + metric
}

function reportIndex(slot: number): number {
  return (layout.slotWord(slot) + layout.REPORT_WORD) / 2
}

/** The word of a metric, as the layout has it. `value` NaN: none. */
function encodeMetric(time: number, tag: number, value: number): bigint {
  single[0] = Math.min(Math.max(value, -LARGEST), LARGEST)
  // Any NaN is none, whatever its bits.
  halves[1] = Number.isNaN(value) ? 0 : ~(singleBits[0] as number)
  halves[0] = ((time % TIME_CYCLE) << TAG_BITS) | tag
  return whole[0] as bigint
}

// How much later a metric's time is than `time`, ms, by their low bits: within half a cycle.
function laterBy(low: number, time: number): number {
  return (((low >>> TAG_BITS) - (time % TIME_CYCLE)) << TAG_BITS) >> TAG_BITS
}

/**
 * Table time of the slot's last report, ms; -1 where there is none, or the slot belongs to another node. All metrics of
 * the slot are read against it.
 */
export function reportTime(memory: TableMemory, slot: number, generation: number): number {
  if (slot === layout.NO_SLOT || !memory.has(slot)) return -1
  decodeReading(Atomics.load(memory.readings, reportIndex(slot)), last)
  return last.value >= 0 && last.tag === layout.readingTag(generation) ? last.time : -1
}

/**
 * Reads one metric of a slot into `into`.
 * @param reported what `reportTime` gave for the slot; not -1
 */
export function readMetric(
  memory: TableMemory,
  slot: number,
  generation: number,
  metric: number,
  reported: number,
  into: MutableMetric,
): void {
  whole[0] = Atomics.load(memory.readings, metricIndex(slot, metric))
  const low = halves[0] as number
  if ((low & TAG_MASK) !== layout.readingTag(generation)) {
    into.value = Number.NaN
    return
  }
  singleBits[0] = ~(halves[1] as number)
  into.value = single[0] as number
  into.time = reported + laterBy(low, reported)
}

/** What a slot has of its node's reports, however old; values in single precision, shown to seven digits. */
export function readReport(memory: TableMemory, slot: number, generation: number): KeptReport {
  const report: KeptReport = {}
  const reported = reportTime(memory, slot, generation)
  if (reported < 0) return report
  const sample: MutableMetric = { time: 0, value: 0 }
  for (const [metric, name] of layout.METRICS.entries()) {
    readMetric(memory, slot, generation, metric, reported, sample)
    if (!Number.isNaN(sample.value)) report[name] = Number(sample.value.toPrecision(7))
  }
  return report
}

/**
 * Offers a report to a slot, each of its fields by itself: the sample taken last stays, and of two taken at once the one
 * that came last. Safe on any thread; seen by picks after the next publication.
 * @param generation the slot generation that the writer was told of
 * @param time table time of the sample, ms
 * @param report a checked report
 */
export function writeReport(
  memory: TableMemory,
  slot: number,
  generation: number,
  time: number,
  report: Report,
): StoreResult {
  if (!memory.isOf(slot, generation)) return 'left'
  const sampled = clamped(time)
  let result: StoreResult = 'empty'
  const tell = (one: WriteResult) => {
    if (result !== 'stored') result = one
  }
  const before = reportTime(memory, slot, generation)
  // Too old for its low bits to tell: older than whatever is there.
  if (before - sampled >= KEPT) return 'older'
  if (report.cpu !== undefined) {
    tell(writeReading(memory, slot, generation, sampled, layout.toMilli(report.cpu)))
  }
  const tag = layout.readingTag(generation)
  // Old metrics go before the time moves away from them, and new ones come after it has moved to them: so whoever reads
  // finds all of them near it.
  if (before >= 0 && Math.floor(before / KEPT) < Math.floor(sampled / KEPT)) {
    clearOld(memory, slot, tag, before, sampled)
  }
  if (sampled > before && !moveReportTime(memory, slot, tag, sampled)) return 'left'
  for (let metric = 0; metric < layout.METRICS.length; metric++) {
    const value = report[layout.METRICS[metric] as layout.MetricName]
    if (value !== undefined) tell(writeMetric(memory, slot, metric, tag, sampled, value))
  }
  if (report.named !== undefined && keepsNamed(memory)) {
    for (const [name, value] of Object.entries(report.named)) {
      const metric = findMetric(memory, name)
      if (metric < layout.METRICS.length) continue
      tell(writeMetric(memory, slot, metric, tag, sampled, value))
      // Its place may have been given to another metric meanwhile.
      if (findMetric(memory, name) !== metric) forgetMetric(memory, slot, metric)
    }
  }
  return result
}

function moveReportTime(memory: TableMemory, slot: number, tag: number, time: number): boolean {
  const index = reportIndex(slot)
  const word = encodeReading(time, tag, 0)
  for (;;) {
    const before = Atomics.load(memory.readings, index)
    decodeReading(before, last)
    if (last.tag !== tag) return false
    if (last.value >= 0 && last.time >= time) return true
    if (Atomics.compareExchange(memory.readings, index, before, word) === before) return true
  }
}

function writeMetric(
  memory: TableMemory,
  slot: number,
  metric: number,
  tag: number,
  time: number,
  value: number,
): WriteResult {
  const index = metricIndex(slot, metric)
  const word = encodeMetric(time, tag, value)
  for (;;) {
    const before = Atomics.load(memory.readings, index)
    whole[0] = before
    const low = halves[0] as number
    if ((low & TAG_MASK) !== tag) return 'left'
    if (halves[1] !== 0 && laterBy(low, time) > 0) return 'older'
    if (Atomics.compareExchange(memory.readings, index, before, word) === before) return 'stored'
  }
}

// Clears the metrics whose sample is `KEPT` older than the report that comes now. After a long silence, what another
// thread writes at this very moment may be cleared too; its next report brings it back.
function clearOld(memory: TableMemory, slot: number, tag: number, before: number, now: number): void {
  const none = encodeMetric(0, tag, Number.NaN)
  for (let metric = 0; metric < layout.METRIC_COUNT; metric++) {
    const index = metricIndex(slot, metric)
    const word = Atomics.load(memory.readings, index)
    whole[0] = word
    const low = halves[0] as number
    if (halves[1] === 0 || (low & TAG_MASK) !== tag) continue
    if (now - (before + laterBy(low, before)) < KEPT) continue
    // Lost where someone has written it meanwhile, and then it is not old.
    Atomics.compareExchange(memory.readings, index, word, none)
  }
}

/** Takes one metric out of a slot, so that it counts as never reported. Safe on any thread. */
export function eraseMetric(memory: TableMemory, slot: number, generation: number, metric: number): void {
  if (!memory.isOf(slot, generation)) return
  const tag = layout.readingTag(generation)
  const index = metricIndex(slot, metric)
  const none = encodeMetric(0, tag, Number.NaN)
  for (;;) {
    const before = Atomics.load(memory.readings, index)
    whole[0] = before
    if (((halves[0] as number) & TAG_MASK) !== tag) return
    if (Atomics.compareExchange(memory.readings, index, before, none) === before) return
  }
}

/** Empties a slot's report for its next owner. */
export function clearReport(memory: TableMemory, slot: number, generation: number): void {
  const tag = layout.readingTag(generation)
  Atomics.store(memory.readings, reportIndex(slot), encodeReading(0, tag, -1))
  const none = encodeMetric(0, tag, Number.NaN)
  for (let metric = 0; metric < layout.METRIC_COUNT; metric++) {
    Atomics.store(memory.readings, metricIndex(slot, metric), none)
  }
}
