import { lacksDescriptors } from './descriptors.js'
import { OptionError } from './errors.js'
import { isBundled } from './own-package.js'

/** gRPC's library, which those alone need who tell or hear reports by it. */
export const GRPC_PACKAGE = '@grpc/grpc-js'

/** What `@grpc/grpc-js` exports. */
export type GrpcModule = typeof import('@grpc/grpc-js')

/** What `@nats-io/transport-node` exports. */
export type NatsModule = typeof import('@nats-io/transport-node')

/**
 * Makes sure that a package is installed which only some need. In a bundle, and while there are no file descriptors, that
 * can't be known before it is loaded.
 * @param option what it is needed for
 * @throws OptionError that says what to install
 */
export function needPackage(option: string, name: string): void {
  // For want of file descriptors it would not be found, and not be looked for again.
  if (isBundled() || lacksDescriptors()) return
  try {
    import.meta.resolve(name)
  } catch {
    throw new OptionError(
      option,
      undefined,
      `the package ${name}, which is not installed: npm install ${name}`,
    )
  }
}

// Loaded by name in a `catch`, within a function: bundlers take such a package in where it is installed, and where it is
// not they leave it to the moment when it is needed. A static import would be at the top of the whole bundle.

/** gRPC's library. Rejects where it is not installed, and says what to install. */
export function loadGrpc(): Promise<GrpcModule> {
  return import('@grpc/grpc-js').catch(rethrow)
}

/** The client of NATS. Rejects where it is not installed, and says what to install. */
export function loadNats(): Promise<NatsModule> {
  return import('@nats-io/transport-node').catch(rethrow)
}

/** Throws what to install, where that is what an import says; else the error itself. */
export function rethrow(error: unknown): never {
  const message = error instanceof Error ? error.message : ''
  // In a bundle in CommonJS a module, else a package.
  const name = /^Cannot find (?:package|module) '((?:@[\w.-]+\/)?[\w.-]+)'/.exec(message)?.[1]
  if (name === undefined) throw error
  throw new Error(`the package ${name} is missing: npm install ${name}`, { cause: error })
}
