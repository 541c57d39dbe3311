import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'

/** The whole number above 0 that an argument is. */
export function countOf(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1) return count
  throw new InvalidArgumentError('Expected a whole number above 0.')
}

/** A file that will be written in the end, which may be an hour later: its folder has to be there. */
export function fileToWrite(text: string): string {
  const isFolder = (path: string) => existsSync(path) && statSync(path).isDirectory()
  const path = resolve(text)
  if (text !== '' && !isFolder(path) && isFolder(dirname(path))) return text
  throw new InvalidArgumentError('Expected a file, in a folder that is there.')
}
