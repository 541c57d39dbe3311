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

/** For `configureOutput`: an unknown flag is named without its value, which may be a secret under a misspelt name. */
export function outputError(message: string, write: (message: string) => void): void {
  write(message.replace(/(unknown option '-[^=']*)=[\s\S]*?'(?=\n|$)/, "$1'"))
}
