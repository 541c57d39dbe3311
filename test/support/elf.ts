/** What a fixture of a binary is like. */
export interface ElfShape {
  interpreter?: string
  /** 62: x64, 183: arm64. */
  machine?: number
  big?: boolean
  bits?: 1 | 2
  /** What the header says of the interpreter's length, where that is not the truth. */
  length?: number
  headers?: number
  /** Bytes that are to be loaded, from the start of the file. */
  loads?: number
}

/** A binary of 256 bytes with nothing in it but a program header for what is to be loaded and one for the interpreter. */
export function elf(shape: ElfShape): Buffer {
  const { interpreter, machine = 62, big = false, bits = 2, length, headers, loads } = shape
  const bytes = Buffer.alloc(256)
  const u16 = (at: number, value: number) =>
    big ? bytes.writeUInt16BE(value, at) : bytes.writeUInt16LE(value, at)
  const u32 = (at: number, value: number) =>
    big ? bytes.writeUInt32BE(value, at) : bytes.writeUInt32LE(value, at)
  const u64 = (at: number, value: number) =>
    big ? bytes.writeBigUInt64BE(BigInt(value), at) : bytes.writeBigUInt64LE(BigInt(value), at)
  bytes.write('\x7fELF', 0, 'latin1')
  bytes[4] = bits
  bytes[5] = big ? 2 : 1
  u16(18, machine)
  u64(32, 64)
  u16(54, 56)
  u16(56, headers ?? 2)
  u32(64, loads === undefined ? 6 : 1)
  u64(96, loads ?? 0)
  if (interpreter !== undefined) {
    u32(120, 3)
    u64(128, 200)
    u64(152, length ?? interpreter.length + 1)
    bytes.write(interpreter, 200, 'latin1')
  }
  return bytes
}
