import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { BadReportError, reasonOf } from '../errors.js'

/** What a client asks for with `xds.service.orca.v3.OrcaLoadReportRequest`. */
export interface OrcaRequest {
  /** How often it wants a report, ms; 0: as often as the server tells at most. */
  readonly interval: number
}

const REPORT_INTERVAL = 1
const REQUEST_COST_NAMES = 2
// Of google.protobuf.Duration.
const SECONDS = 1
const NANOS = 2

/** The longest that is read, bytes. What is sent here has some ten. */
export const MAX_REQUEST = 65_536

function readDuration(bytes: Uint8Array): number {
  const reader = new BinaryReader(bytes)
  let seconds = 0
  let nanos = 0
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (field === SECONDS && type === WireType.Varint) seconds = Number(reader.int64())
    else if (field === NANOS && type === WireType.Varint) nanos = reader.int32()
    else reader.skip(type, field)
  }
  return seconds * 1e3 + nanos / 1e6
}

function read(bytes: Uint8Array): OrcaRequest {
  const reader = new BinaryReader(bytes)
  let interval = 0
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (field === REPORT_INTERVAL && type === WireType.LengthDelimited)
      interval = readDuration(reader.bytes())
    // Out of band there are no costs of a request; the names are checked alone.
    else if (field === REQUEST_COST_NAMES && type === WireType.LengthDelimited) reader.string(true)
    else reader.skip(type, field)
  }
  // A negative interval asks for nothing that there is.
  return { interval: Math.max(0, interval) }
}

/**
 * Reads a serialized `OrcaLoadReportRequest`; an interval that is not given, or negative, is 0. The names of request
 * costs are not kept, unknown fields are skipped.
 * @throws BadReportError for bytes that are no protobuf, or more than 64 KiB of them
 */
export function readOrcaRequest(bytes: Uint8Array): OrcaRequest {
  if (bytes.length > MAX_REQUEST) throw new BadReportError('', bytes, `at most ${MAX_REQUEST} bytes`)
  try {
    return read(bytes)
  } catch (error) {
    throw new BadReportError('', bytes, `a serialized OrcaLoadReportRequest (${reasonOf(error)})`)
  }
}

/**
 * Writes a request for reports each `interval` ms, serialized; without names of costs.
 * @param interval 0 or more, to the nanosecond
 */
export function writeOrcaRequest({ interval }: OrcaRequest): Uint8Array {
  const nanos = Math.round(interval * 1e6)
  const writer = new BinaryWriter()
  writer.tag(REPORT_INTERVAL, WireType.LengthDelimited).fork()
  const seconds = Math.floor(nanos / 1e9)
  if (seconds > 0) writer.tag(SECONDS, WireType.Varint).int64(seconds)
  if (nanos % 1e9 > 0) writer.tag(NANOS, WireType.Varint).int32(nanos % 1e9)
  return writer.join().finish()
}
