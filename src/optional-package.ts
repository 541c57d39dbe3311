import { OptionError } from './errors.js'

/**
 * Makes sure that a package is installed which only some need.
 * @param option what it is needed for
 * @throws OptionError that says what to install
 */
export function needPackage(option: string, name: string): void {
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
