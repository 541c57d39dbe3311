import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** The packages that idlest is compared with. */
export const PEERS = ['@grpc/grpc-js', 'consistent-hash', 'hashring', 'load-balancers', 'undici'] as const

function versionOf(name: string): string {
  const { version } = require(`${name}/package.json`) as { version: string }
  return version
}

/** The versions of all of them, by name. */
export function peerVersions(): Record<string, string> {
  return Object.fromEntries(PEERS.map((name) => [name, versionOf(name)]))
}
