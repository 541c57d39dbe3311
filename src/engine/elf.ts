import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const PT_LOAD = 1
const PT_INTERP = 3
const MOST_HEADERS = 64
const MOST_INTERPRETER_BYTES = 4096

/** A part of an ELF file, as a program header tells of it. */
interface Segment {
  readonly type: number
  readonly offset: number
  readonly length: number
}

/**
 * The ELF interpreter that a binary asks for, such as `/lib64/ld-linux-x86-64.so.2`; undefined where it is no 64-bit
 * ELF file, is linked statically or can't be read. Reads a few kilobytes at most.
 */
export function elfInterpreter(path: string): string | undefined {
  return reading(path, (file) => {
    const found = segmentsOf(file).find(({ type }) => type === PT_INTERP)
    if (found === undefined) return undefined
    return readAt(file, found.offset, Math.min(found.length, MOST_INTERPRETER_BYTES))
      .toString('latin1')
      .replace(/\0.*$/s, '')
  })
}

/**
 * Whether a 64-bit ELF file ends before what is to be loaded of it does, as one that was not copied to its end. To load it
 * kills the process: the system has nothing to give for what is missing.
 */
export function isCutShort(path: string): boolean {
  const cut = reading(path, (file) => {
    const { size } = fstatSync(file)
    return segmentsOf(file).some(({ type, offset, length }) => type === PT_LOAD && offset + length > size)
  })
  return cut === true
}

function reading<T>(path: string, read: (file: number) => T): T | undefined {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    return read(file)
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function segmentsOf(file: number): Segment[] {
  const header = readAt(file, 0, 64)
  // Magic, and 2: 64 bits. Every platform that has a prebuilt addon is a 64-bit one.
  if (header.readUInt32BE(0) !== 0x7f454c46 || header[4] !== 2) return []
  const little = header[5] === 1
  const u16 = (of: Buffer, at: number) => (little ? of.readUInt16LE(at) : of.readUInt16BE(at))
  const u32 = (of: Buffer, at: number) => (little ? of.readUInt32LE(at) : of.readUInt32BE(at))
  const u64 = (of: Buffer, at: number) => Number(little ? of.readBigUInt64LE(at) : of.readBigUInt64BE(at))
  const size = u16(header, 54)
  const table = readAt(file, u64(header, 32), size * Math.min(u16(header, 56), MOST_HEADERS))
  const segments: Segment[] = []
  for (let at = 0; at < table.length; at += size) {
    segments.push({ type: u32(table, at), offset: u64(table, at + 8), length: u64(table, at + 32) })
  }
  return segments
}

// Throws where the file ends before: a truncated header says nothing.
function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  if (readSync(file, bytes, 0, length, position) !== length) throw new RangeError('truncated')
  return bytes
}
