import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** Runs a module of this folder as a process of its own, that sends one message. */
export function startChild(url: URL, args: readonly string[], flags: readonly string[] = []): ChildProcess {
  return fork(url, [...args], { execArgv: ['--import', 'tsx', ...flags] })
}

/** The first message of a process. Rejects where it ends without one. */
export async function firstMessage(child: ChildProcess): Promise<unknown> {
  const abort = new AbortController()
  const { signal } = abort
  try {
    return await Promise.race([
      once(child, 'message', { signal }).then(([message]) => message as unknown),
      // `close` comes after the last message, `exit` may come before it.
      once(child, 'close', { signal }).then(([code]) => {
        throw new Error(`${child.spawnargs.join(' ')} ended with ${code} and said nothing`)
      }),
    ])
  } finally {
    abort.abort()
  }
}
