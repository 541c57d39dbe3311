import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import type { Clock } from '../clock.js'
import { OptionError } from '../errors.js'
import { checkOptions, clockSchema, milliseconds, options, text } from '../options.js'
import { processClock } from '../process-clock.js'
import { Discovery } from './discovery.js'
import { FileFinder } from './file-finder.js'
import type { FileNode } from './file-format.js'

/** Options of `fileDiscovery`. */
export interface FileDiscoveryOptions {
  /** Longest time between two looks whether the file was changed, ms, where its folder can't be watched. Default 5,000. */
  interval?: number | undefined
  /** How long it has to stay as it is before it is read, ms: it may be written bit by bit. Default 50. */
  settle?: number | undefined
  /** For telemetry and warnings. Default `file:` and the path. */
  name?: string | undefined
  /** Where time comes from. Default the process's. */
  clock?: Clock | undefined
}

const fileOptions = options({
  interval: v.optional(milliseconds(1), 5_000),
  settle: v.optional(milliseconds(0), 50),
  name: v.optional(text()),
  clock: v.optional(clockSchema, () => processClock),
})

/**
 * Nodes by a file, which is watched: a line a node, with comments after `#`; or JSON, an array of ids or of objects with
 * an `id`, of which `weight` and `priority` are read, or an object with that as `nodes`. What is called `.json` has to be
 * JSON.
 *
 * A file that is gone, empty or half written changes nothing, nor does one with nobody in it. Best write another one and
 * rename it. ConfigMaps of Kubernetes are followed, but for those mounted by `subPath`, which Kubernetes never changes.
 *
 * @example
 * ```ts
 * const nodes = fileDiscovery('/etc/api/nodes.json') // [{ "id": "10.0.0.1:8080", "weight": 2 }, { "id": "10.0.0.2:8080" }]
 * const balancer = createBalancer({ nodes })
 * ```
 * @throws OptionError
 */
export function fileDiscovery(path: string | URL, given: FileDiscoveryOptions = {}): Discovery<FileNode> {
  const checked = checkOptions('fileDiscovery', given, fileOptions)
  const file = pathOf(path)
  const { name = `file:${file}`, interval, settle, clock } = checked
  return new Discovery<FileNode>(
    name,
    (onLook) => new FileFinder({ path: file, interval, settle, clock, onLook }),
  )
}

// Whatever the working directory is later.
function pathOf(path: unknown): string {
  try {
    if (path instanceof URL) return fileURLToPath(path)
  } catch (error) {
    throw new OptionError('path', path, 'a path, or a file: URL', error)
  }
  // No file has a zero byte in its name.
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw new OptionError('path', path, 'a path, or a file: URL')
  }
  return resolve(path)
}
