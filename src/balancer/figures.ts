import { type Algorithm, comparesFlights, metricOf, ttlOf } from '../algorithms/registry.js'
import { NOT_ELIGIBLE } from '../engine/engine.js'
import { inFlight } from '../table/in-flight.js'
import { MILLI, readingTag } from '../table/layout.js'
import type { TableMemory } from '../table/memory.js'
import { findMetric } from '../table/metric-names.js'
import { type MutableReading, readReading } from '../table/reading.js'
import { type MutableMetric, readMetric, reportTime } from '../table/report.js'
import type { Place } from './member.js'

const reading: MutableReading = { time: 0, tag: 0, value: 0 }
const sample: MutableMetric = { time: 0, value: 0 }

/** CPU of a node's last reading in percent, however old; undefined where there is none. */
export function cpuOf(memory: TableMemory, { slot, generation }: Place): number | undefined {
  readReading(memory, slot, reading)
  return reading.value >= 0 && reading.tag === readingTag(generation) ? reading.value / MILLI : undefined
}

/**
 * Table time of the sample that an algorithm goes by, ms, however old; undefined where there is none. That is the CPU
 * reading, unless it goes by another metric.
 */
export function sampledAt(algorithm: Algorithm, memory: TableMemory, place: Place): number | undefined {
  const metric = metricOf(algorithm)
  if (metric === undefined) return cpuOf(memory, place) === undefined ? undefined : reading.time
  const { slot, generation } = place
  const reported = reportTime(memory, slot, generation)
  if (reported < 0) return undefined
  readMetric(memory, slot, generation, findMetric(memory, metric), reported, sample)
  return Number.isNaN(sample.value) ? undefined : sample.time
}

/**
 * What an algorithm takes a node for: CPU in percent, or the metric's value; undefined where it knows nothing of it,
 * or does not ask.
 * @param value of the view
 */
export function takenFor(
  algorithm: Algorithm,
  memory: TableMemory,
  { slot, generation }: Place,
  value: number,
): number | undefined {
  if (value === NOT_ELIGIBLE || ttlOf(algorithm) === undefined) return undefined
  if (comparesFlights(algorithm)) return Math.max(value, inFlight(memory, slot, generation))
  return metricOf(algorithm) === undefined ? value / MILLI : value
}

/**
 * What a node says of how busy it is: the metric of `powerOfTwo`; else its CPU, or its application utilization where it
 * does not tell that. Undefined where nothing as fresh is known.
 * @param oldest table time of the oldest sample that counts, ms
 */
export function claimOf(
  algorithm: Algorithm,
  memory: TableMemory,
  place: Place,
  oldest: number,
): number | undefined {
  const ownMetric = metricOf(algorithm)
  if (ownMetric === undefined) {
    const cpu = cpuOf(memory, place)
    if (cpu !== undefined && reading.time >= oldest) return cpu
  }
  const { slot, generation } = place
  const reported = reportTime(memory, slot, generation)
  if (reported < 0) return undefined
  const metric = findMetric(memory, ownMetric ?? 'application')
  readMetric(memory, slot, generation, metric, reported, sample)
  return Number.isNaN(sample.value) || sample.time < oldest ? undefined : sample.value
}
