import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { hasFields } from '../../fields.js'

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

/** The `files` of a sampler's options. */
export const filesSchema = v.custom<Files>(
  (value) => hasFields(value) && typeof value.read === 'function',
  'an object with read(path)',
)

// The process or the machine is short of something for a moment. This says nothing about what the file holds.
const SHORTAGES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR'])

/**
 * The result of `read`, or undefined if it throws because a file is missing or unreadable.
 * @throws the error of `read` if it reports a passing shortage, such as of file descriptors: the caller must not
 * conclude that the file is missing
 */
export function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (SHORTAGES.has((error as { code?: unknown } | undefined)?.code)) throw error
    return undefined
  }
}

/**
 * The text of a file, or undefined if it is missing or unreadable.
 * @throws as {@link ifThere}
 */
export function readIfThere(files: Files, path: string): string | undefined {
  return ifThere(() => files.read(path))
}
