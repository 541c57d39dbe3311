import { elfInterpreter } from './elf.js'

/** The C library that a Linux binary is linked with. */
export type Libc = 'gnu' | 'musl'

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
