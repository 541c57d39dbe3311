import { channel } from 'node:diagnostics_channel'
import type { ExecutionContext } from 'ava'

/** Collects what these channels tell of a balancer, with the channel's name, until the test ends. Name each balancer apart. */
export function eventsOf(
  t: ExecutionContext,
  balancer: string,
  names: readonly string[],
): [string, unknown][] {
  const events: [string, unknown][] = []
  for (const name of names) {
    const listen = (event: unknown) => {
      if ((event as { balancer?: string }).balancer === balancer) events.push([name, event])
    }
    channel(name).subscribe(listen)
    t.teardown(() => {
      channel(name).unsubscribe(listen)
    })
  }
  return events
}
