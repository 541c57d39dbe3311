import { BroadcastChannel } from 'node:worker_threads'

const kept: BroadcastChannel[] = []

/** Opens a channel between threads that does not keep its thread running. */
export function openChannel(name: string): BroadcastChannel {
  // In Deno one that is opened in the turn in which its thread's last one was closed is deaf, and throws when it is
  // told something: one that is never closed is never the last.
  if (process.versions.deno !== undefined && kept.length === 0) kept.push(unreferenced('idlest:kept'))
  return unreferenced(name)
}

function unreferenced(name: string): BroadcastChannel {
  const channel = new BroadcastChannel(name)
  channel.unref()
  return channel
}
