/**
 * The layout of a table in memory: the one place where it is written down for TypeScript. `crates/core/src/layout.rs`
 * says the same for Rust, and both sides check magic, version and sizes when they attach.
 *
 * A table is one growable buffer (shared where the platform allows), little-endian, of 32-bit words:
 *
 * ```text
 * header, 128 bytes      word 0 magic   1 version   2 header bytes   3 slot bytes   4 most slots
 *                        word 5 capacity, in slots (atomic, only grows)
 *                        words 6-7 epoch: the clock's time at creation (one f64, written before anyone attaches)
 *                        words 8-15 names of the metrics of the user's own: four 64-bit hashes (atomic), 0: none yet
 *                        word 16 generation (atomic): one step a publication; a cache line of its own
 * slot i, 128 bytes      word 0 slot generation (atomic): one step each time the slot is given back
 *                        word 1 in flight (atomic): 12 bits tag, 20 bits count
 *                        words 2-3 cpu reading (one atomic 64-bit word)
 *                        words 4-5 time of the last report (one atomic 64-bit word, as a reading of CPU 0)
 *                        words 6-29 metrics (atomic 64-bit words), in the order of `METRICS`, then the named ones
 *                        words 30-31 registration: which thread writes the slot by its meters (one atomic 64-bit word)
 * ```
 *
 * A reading is one 64-bit word, so nobody ever sees half of one:
 *
 * ```text
 * bits 63-26  time: when the sample was taken, table time in ms (38 bits)
 * bits 25-17  tag: the slot generation's low 9 bits
 * bits 16-0   value: 0 no reading, else the CPU in 1/1000 percentage points, plus 1 (1 to 100,001)
 * ```
 *
 * A metric is one 64-bit word too, so that its value, its time and its owner belong together:
 *
 * ```text
 * bits 63-32  value: a single-precision number, all bits inverted, so that zero is none (not a number)
 * bits 31-9   time: when the sample was taken, the low 23 bits of table time
 * bits 8-0    tag: the slot generation's low 9 bits
 * ```
 *
 * The whole time of a metric is the one within 2^22 ms (70 minutes) of the slot's last report that ends with these bits:
 * writers clear metrics that later reports have lacked for longer than half of that.
 *
 * A registration is laid out as a reading: the time when it lapses, the tag, and the number of the thread in place of the
 * CPU, plus 1 (0: nobody is registered).
 *
 * Table time is `floor(clock.now() - epoch) + TIME_BIAS`, so that samples from before the table was made still have
 * a positive time. It is good for 4.3 years on either side of the epoch; times beyond are clamped.
 */

/** The bytes "idle", little-endian. */
export const MAGIC = 0x656c6469
export const VERSION = 2
export const HEADER_BYTES = 128
export const SLOT_BYTES = 128
const SLOT_WORDS = SLOT_BYTES / 4
export const HEADER_WORDS = HEADER_BYTES / 4

/** Header words. */
export const MAGIC_WORD = 0
export const VERSION_WORD = 1
export const HEADER_BYTES_WORD = 2
export const SLOT_BYTES_WORD = 3
export const MOST_SLOTS_WORD = 4
export const CAPACITY_WORD = 5
export const EPOCH_WORD = 6
export const NAMES_WORD = 8
export const GENERATION_WORD = 16

/** Slot words. */
export const SLOT_GENERATION_WORD = 0
export const IN_FLIGHT_WORD = 1
export const CPU_WORD = 2
export const REPORT_WORD = 4
export const METRICS_WORD = 6
export const REGISTRATION_WORD = 30

/** The metrics of a report that have a place of their own, in its order. `cpu` is here as it was reported: it may be above 100. */
export const METRICS = [
  'cpu',
  'application',
  'memory',
  'qps',
  'eps',
  'inFlight',
  'latency',
  'queueDelay',
] as const satisfies readonly MetricName[]

/** A metric of a report that has a place of its own in the table: a field of `Report`. */
export type MetricName =
  | 'cpu'
  | 'application'
  | 'memory'
  | 'qps'
  | 'eps'
  | 'inFlight'
  | 'latency'
  | 'queueDelay'

/** Metrics of the user's own that a table keeps. */
export const MOST_NAMED = 4
export const METRIC_COUNT = METRICS.length + MOST_NAMED

/** Bits of a metric's time. */
export const METRIC_TIME_BITS = 23

/** Bits of a reading. */
export const VALUE_BITS = 17
export const TAG_BITS = 9
const TIME_BITS = 38
export const TIME_BIAS = 2 ** (TIME_BITS - 1)
export const TIME_MAX = 2 ** TIME_BITS - 1

/** Bits of the in-flight word. */
export const COUNT_BITS = 20
// Shifts, since a power is a double on the heap to the compiler.
export const COUNT_MASK = (1 << COUNT_BITS) - 1
const COUNT_TAG_MASK = (1 << (32 - COUNT_BITS)) - 1

/** CPU and thresholds are integers of 1/1000 percentage point: single precision loses 5 % of the inclusive edges. */
export const MILLI = 1000
export const CPU_MAX = 100 * MILLI

/** A slot number that stands for "no slot": its reading is always missing. */
export const NO_SLOT = 0xffffffff

/** Most slots of a table unless asked for otherwise. Address space only: memory is taken as the table grows. */
export const DEFAULT_MOST_SLOTS = 262_144

/** The first word of a slot. */
export function slotWord(slot: number): number {
  return HEADER_WORDS + slot * SLOT_WORDS
}

/** The tag of a slot generation that is kept in a reading. */
export function readingTag(slotGeneration: number): number {
  return slotGeneration & ((1 << TAG_BITS) - 1)
}

/** The tag of a slot generation that is kept in the in-flight word. */
export function countTag(slotGeneration: number): number {
  return slotGeneration & COUNT_TAG_MASK
}

/** A CPU figure in percent as the table holds it: 0 to 100,000. */
export function toMilli(percent: number): number {
  return Math.min(CPU_MAX, Math.round(percent * MILLI))
}
