import { closeSync, openSync } from 'node:fs'

// A module that could not be loaded for want of file descriptors stays failed for as long as its thread lives, and so do all
// that import it.

/** As many files as the loader may have open at once for what is loaded later. */
const NEEDED = 64

/** Whether something failed since the process, or the machine, has no file descriptors left: it may work later. */
export function isOutOfDescriptors(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'EMFILE' || code === 'ENFILE'
}

/**
 * Makes sure that modules can be loaded now.
 * @throws Error of the system, `EMFILE` or `ENFILE`, where there are too few file descriptors for that
 */
export function needDescriptors(): void {
  const open: number[] = []
  try {
    while (open.length < NEEDED) open.push(openSync(process.execPath, 'r'))
  } catch (error) {
    // Where it may not read that file, it can't be known.
    if (isOutOfDescriptors(error)) throw error
  } finally {
    for (const descriptor of open) closeSync(descriptor)
  }
}

/** Whether there are too few file descriptors to load modules now. */
export function lacksDescriptors(): boolean {
  try {
    needDescriptors()
    return false
  } catch {
    return true
  }
}
