import { readFileSync } from 'node:fs'
import { PeerError } from '../../errors.js'
import { GRPC_PACKAGE, type GrpcModule } from '../../optional-package.js'
import { ownRequire } from '../../own-package.js'

export type { GrpcModule }

/**
 * The versions that the policies were tested with, as npm takes them. Policies are made of what grpc-js calls
 * experimental, and that may change with each minor version.
 */
export const TESTED_GRPC = '~1.14.0'
const TESTED = /^1\.14\.\d+$/

/**
 * The module to plug into, of a version that was tested.
 * @param given the caller's; default the one that is installed
 * @param version the caller's word for its version, where that can't be found out
 * @throws PeerError where there is none, or it is of another version
 */
export function testedModule(given?: GrpcModule, version?: string): GrpcModule {
  const grpc = given ?? installed()
  const found = version ?? versionOf(grpc)
  if (found === undefined) {
    throw new PeerError(
      GRPC_PACKAGE,
      undefined,
      TESTED_GRPC,
      'is of a version that can\'t be found out, as in a bundle (then say it: { version: "1.14.0" })',
    )
  }
  if (!TESTED.test(found)) throw new PeerError(GRPC_PACKAGE, found, TESTED_GRPC, `is ${found}`)
  return grpc
}

function installed(): GrpcModule {
  try {
    return ownRequire(GRPC_PACKAGE) as GrpcModule
  } catch (error) {
    throw new PeerError(GRPC_PACKAGE, undefined, TESTED_GRPC, 'is not installed', error)
  }
}

const MAIN_FILE = /[\\/]@grpc[\\/]grpc-js[\\/]build[\\/]src[\\/]index\.js$/

// The module does not tell its version, but the file that it was loaded from has its package beside it.
function versionOf(grpc: GrpcModule): string | undefined {
  for (const [file, module] of Object.entries(ownRequire.cache)) {
    if (!MAIN_FILE.test(file)) continue
    const exported: Partial<GrpcModule> | undefined = module?.exports
    if (exported?.Client === grpc.Client) return packageVersion(file.replace(MAIN_FILE, '/@grpc/grpc-js'))
  }
  return undefined
}

function packageVersion(folder: string): string | undefined {
  try {
    const { version }: { version?: unknown } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
    return typeof version === 'string' ? version : undefined
  } catch {
    return undefined
  }
}
