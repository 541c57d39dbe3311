import type { CommanderError } from 'commander'

/** The call was right, but what it asked for could not be done. */
export const FAILED = 1

/** The call was wrong: an unknown command, a wrong option. */
export const USAGE = 2

/** For `exitOverride`: a wrong call ends with `USAGE`, and what a command exits with by `error` stays. */
export function exitAsUsual({ exitCode, code }: CommanderError): never {
  // Commander's own errors exit with 1, as if it had been tried; 0 is for --help and --version.
  process.exit(code === 'commander.error' || exitCode === 0 ? exitCode : USAGE)
}
