import { existsSync, readFileSync } from 'node:fs'
import { libcOf } from '../../dist/engine/libc.js'
import { buildNames } from '../../dist/engine/targets.js'
import { WORLD } from './settings.js'

/** What `main.ts` has made ready for the proof: all of it is there for this run alone. */
export interface World {
  /** With a slash at the end. */
  readonly registry: string
  /** The home folder of whoever installs: caches and settings of all package managers. */
  readonly home: string
  /** The version that was published with all that belongs to it. */
  readonly version: string
  /** A version of which the packages of other platforms were not published. */
  readonly halfVersion: string
  /** The packages that `version` consists of. */
  readonly packages: readonly string[]
}

/** What was made ready. */
export const world: World = readWorld()

function readWorld(): World {
  const file = process.env[WORLD]
  if (file === undefined || !existsSync(file)) throw new Error('run it by `npm run test:install`')
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** The build of the addon for this machine, such as `linux-x64-gnu`. */
export const build = buildNames(
  process.platform,
  process.arch,
  process.platform === 'linux' ? libcOf(process.execPath) : undefined,
)[0] as string

/** The package of the addon for this machine. */
export const BINDING = `@idlest/binding-${build}`

/** The file of the addon for this machine. */
export const ADDON = `idlest.${build}.node`
