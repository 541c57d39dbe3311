import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { BadReportError, reasonOf } from '../errors.js'
import type { ReadReport, Report } from '../report.js'
import {
  IncomingReport,
  MAX_REPORT,
  ORCA_MAPS,
  ORCA_NUMBERS,
  type OrcaMap,
  type OrcaNumber,
  outgoingMetrics,
  outgoingNumbers,
  wirePlace,
} from './orca-fields.js'

// By field number: 1 to 9, without 3.
const numbers: (OrcaNumber | undefined)[] = []
for (const number of ORCA_NUMBERS) numbers[number.number] = number
const maps: (OrcaMap | undefined)[] = []
for (const map of ORCA_MAPS) maps[map.number] = map

const RPS = 3
// Of an entry of a map<string, double>.
const KEY = 1
const VALUE = 2

/** The most bytes of a varint. */
const MAX_VARINT = 10

function expectType(name: string, found: WireType, expected: WireType): void {
  if (found === expected) return
  throw new BadReportError(name, found, `wire type ${expected} (${WireType[expected]})`)
}

// The library bounds a varint that it skips by the end of the bytes alone.
function skip(reader: BinaryReader, type: WireType, field: number): void {
  const skipped = reader.skip(type, field)
  if (type === WireType.Varint && skipped.length > MAX_VARINT) {
    throw new BadReportError('', skipped, `at most ${MAX_VARINT} bytes of a varint`)
  }
}

function readEntry(reader: BinaryReader, map: OrcaMap, report: IncomingReport): void {
  // In place: a reader of its own for each entry would cost more than reading it.
  const length = reader.uint32()
  const end = reader.pos + length
  if (end > reader.len) {
    throw new BadReportError(
      map.wire,
      length,
      `an entry's length, at most the ${reader.len - reader.pos} bytes left`,
    )
  }
  let key = ''
  let value = 0
  while (reader.pos < end) {
    const [field, type] = reader.tag()
    if (field === KEY) {
      expectType(map.wire, type, WireType.LengthDelimited)
      key = reader.string(true)
    } else if (field === VALUE) {
      expectType(map.wire, type, WireType.Bit64)
      value = reader.double()
    } else {
      skip(reader, type, field)
    }
  }
  if (reader.pos !== end) throw new BadReportError(map.wire, length, 'the length of its entry')
  report.entry(map, map.wire, key, value)
}

function readFields(reader: BinaryReader, report: IncomingReport): void {
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    const number = numbers[field]
    const map = maps[field]
    if (number !== undefined) {
      expectType(number.wire, type, WireType.Bit64)
      report.number(number, number.wire, reader.double())
    } else if (map !== undefined) {
      expectType(map.wire, type, WireType.LengthDelimited)
      readEntry(reader, map, report)
    } else {
      if (field === RPS) expectType('rps', type, WireType.Varint)
      skip(reader, type, field)
    }
  }
}

/**
 * Reads a serialized `xds.data.orca.v3.OrcaLoadReport`; what becomes of each field is as in `readOrcaJson`, with the
 * age as the named metric `age_ms`. Of a field or a map's key that comes twice the last value counts, a map's entry
 * without a value is 0, unknown fields are skipped: so far protobuf's own rules. Beyond them: a field that is not on
 * the wire is not reported, one that is there with 0 is reported as 0. Writers of other languages leave zeros out, so
 * that their idle servers report nothing of a CPU at 0; a server is hardly ever that idle. A known field of another
 * wire type is refused, where protobuf would take it for an unknown one: the two sides disagree on what it means.
 * @throws BadReportError for bytes that are cut short or no protobuf, more than 64 KiB of them, a metric's name that is
 * empty or not UTF-8, or a number that is not finite or out of range
 */
export function readOrcaBinary(bytes: Uint8Array): ReadReport {
  if (bytes.length > MAX_REPORT) throw new BadReportError('', bytes, `at most ${MAX_REPORT} bytes`)
  const report = new IncomingReport()
  try {
    readFields(new BinaryReader(bytes), report)
  } catch (error) {
    if (error instanceof BadReportError) throw error
    // The library's own errors are plain ones, of several classes: all of them are about the bytes.
    throw new BadReportError('', bytes, `a serialized OrcaLoadReport (${reasonOf(error)})`)
  }
  return report.finish()
}

// One for all reports: it keeps its buffer, which takes longer to make than the report to write.
const writer = new BinaryWriter()

/**
 * Writes a report as a serialized `xds.data.orca.v3.OrcaLoadReport`; what {@link readOrcaBinary} reads back as the same
 * report, its percentages to a billionth. A field that is 0 is written, where other writers leave zeros out: so the
 * reader can tell an idle node from one that does not say. Expects a checked report.
 */
export function writeOrcaBinary(report: Report): Uint8Array {
  for (const [{ number }, value] of outgoingNumbers(report)) writer.tag(number, WireType.Bit64).double(value)
  for (const [metric, value] of outgoingMetrics(report)) {
    const { map, name } = wirePlace(metric, value)
    writer.tag(map.number, WireType.LengthDelimited).fork()
    writer.tag(KEY, WireType.LengthDelimited).string(name)
    writer.tag(VALUE, WireType.Bit64).double(value)
    writer.join()
  }
  return writer.finish()
}
