import { constants } from 'node:os'
import { reasonOf } from '../errors.js'
import { FAILED } from './exit.js'

/** Why a command ends before it is done. */
export class Ended extends Error {
  override readonly name = 'Ended'
  /** What the process exits with: 128 and the signal's number. */
  readonly exitCode: number

  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGPIPE') {
    super(`ended by ${signal}`)
    this.exitCode = 128 + constants.signals[signal]
  }
}

/**
 * A signal that is aborted, with an Ended, by Ctrl-C and its like, and when nobody reads stdout any more. By the second
 * Ctrl-C the process exits.
 */
export function endingSignal(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const ended = new Ended(signal)
      if (controller.signal.aborted) process.exit(ended.exitCode)
      controller.abort(ended)
    })
  }
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    controller.abort(new Ended('SIGPIPE'))
  })
  return controller.signal
}

/**
 * For commands that have nothing to put right: the process exits when what it prints can't be written. Silently where
 * nobody reads any more, as programs do that SIGPIPE ends.
 */
export function exitWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(new Ended('SIGPIPE').exitCode)
    process.stderr.write(`error: can't write the output: ${reasonOf(error)}\n`)
    process.exit(FAILED)
  })
}
