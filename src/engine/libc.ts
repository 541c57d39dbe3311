import { closeSync, openSync, readSync } from 'node:fs'

/** The C library that a Linux binary is linked with. */
export type Libc = 'gnu' | 'musl'

const PT_INTERP = 3
const MOST_HEADERS = 64
const MOST_INTERPRETER_BYTES = 4096

/**
 * The ELF interpreter that a binary asks for, such as `/lib64/ld-linux-x86-64.so.2`; undefined where it is no 64-bit
 * ELF file, is linked statically or can't be read. Reads a few kilobytes at most.
 */
export function elfInterpreter(path: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    return readInterpreter(file)
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function readInterpreter(file: number): string | undefined {
  const header = readAt(file, 0, 64)
  // Magic, and 2: 64 bits. Every platform that has a prebuilt addon is a 64-bit one.
  if (header.readUInt32BE(0) !== 0x7f454c46 || header[4] !== 2) return undefined
  const little = header[5] === 1
  const u16 = (of: Buffer, at: number) => (little ? of.readUInt16LE(at) : of.readUInt16BE(at))
  const u64 = (of: Buffer, at: number) => Number(little ? of.readBigUInt64LE(at) : of.readBigUInt64BE(at))
  const size = u16(header, 54)
  const count = Math.min(u16(header, 56), MOST_HEADERS)
  const table = readAt(file, u64(header, 32), size * count)
  for (let at = 0; at < table.length; at += size) {
    const type = little ? table.readUInt32LE(at) : table.readUInt32BE(at)
    if (type !== PT_INTERP) continue
    const length = Math.min(u64(table, at + 32), MOST_INTERPRETER_BYTES)
    return readAt(file, u64(table, at + 8), length)
      .toString('latin1')
      .replace(/\0.*$/s, '')
  }
  return undefined
}

// Throws where the file ends before: a truncated header says nothing.
function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  if (readSync(file, bytes, 0, length, position) !== length) throw new RangeError('truncated')
  return bytes
}

/**
 * Which C library a node binary runs on, told by its ELF interpreter: `ldd` and the system's files tell of the system,
 * not of the binary. Undefined where that can't be known.
 */
export function libcOf(execPath: string): Libc | undefined {
  const interpreter = elfInterpreter(execPath)
  if (interpreter === undefined) return undefined
  if (/ld-musl-/.test(interpreter)) return 'musl'
  return /ld-linux|ld64\.so/.test(interpreter) ? 'gnu' : undefined
}
