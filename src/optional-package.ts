import { OptionError } from './errors.js'

/** gRPC's library, which those alone need who tell or hear reports by it. */
export const GRPC_PACKAGE = '@grpc/grpc-js'

/**
 * Makes sure that a package is installed which only some need.
 * @param option what it is needed for
 * @throws OptionError that says what to install
 */
export function needPackage(option: string, name: string): void {
  try {
    // A CommonJS bundle has no such function: there the import itself tells.
    import.meta.resolve?.(name)
  } catch {
    throw new OptionError(
      option,
      undefined,
      `the package ${name}, which is not installed: npm install ${name}`,
    )
  }
}
