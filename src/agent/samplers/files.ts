import { readFileSync } from 'node:fs'

/**
 * Reads files of /proc and /sys. Tests put fixtures in its place.
 */
export interface Files {
  /** The text of a file; throws where it can't be read. */
  read(path: string): string
}

/**
 * The real files. Read synchronously: the kernel makes them up in some 10 µs each, less than a trip to the thread
 * pool, and a sample's counters and its clock are then read together.
 */
export const systemFiles: Files = { read: (path) => readFileSync(path, 'utf8') }

/** The text of a file, or undefined where it can't be read. */
export function readIfThere(files: Files, path: string): string | undefined {
  try {
    return files.read(path)
  } catch {
    return undefined
  }
}
