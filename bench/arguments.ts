import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'

/** A file that will be written in the end, which may be an hour later: its folder has to be there. */
export function fileToWrite(text: string): string {
  const isFolder = (path: string) => existsSync(path) && statSync(path).isDirectory()
  const path = resolve(text)
  if (text !== '' && !isFolder(path) && isFolder(dirname(path))) return text
  throw new InvalidArgumentError('Expected a file, in a folder that is there.')
}
