import { createRequire } from 'node:module'

/** This package's version. */
export function packageVersion(): string {
  const require = createRequire(import.meta.url)
  return (require('../../package.json') as { version: string }).version
}
