import type { ExecutionContext } from 'ava'

/** Collects what process warnings of this code say that begin with a name, until the test ends. */
export function warningsOf(t: ExecutionContext, code: string, name: string): string[] {
  const messages: string[] = []
  const listen = (warning: Error & { code?: string }) => {
    if (warning.code === code && warning.message.startsWith(name)) messages.push(warning.message)
  }
  process.on('warning', listen)
  t.teardown(() => {
    process.off('warning', listen)
  })
  return messages
}
