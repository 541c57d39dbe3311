import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** A package's name and the version of it that is installed. */
export function withVersion(name: string): string {
  const { version } = require(`${name}/package.json`) as { version: string }
  return `${name} ${version}`
}
