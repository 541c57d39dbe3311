// Loaded first by every thread of the soaked process. The library's own threads, which the soak has no other way into, collect
// their garbage when asked, and say what memory they have in use then.
import { setTimeout as delay } from 'node:timers/promises'
import { BroadcastChannel, isMainThread, threadId, workerData } from 'node:worker_threads'

// The lowest of several, since finalizers let go of more, and a flood of 10 MB may just be coming in.
async function lowest() {
  let used = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    used = Math.min(used, heapUsed + external)
    await delay(100)
  }
  return used
}

// Polling threads are given the version that started them; the threads that pick are the soak's own, and are given other data.
if (!isMainThread && workerData?.idlest !== undefined) {
  const channel = new BroadcastChannel('soak: used')
  channel.unref()
  channel.onmessage = async ({ data }) => {
    if (data === 'collect') channel.postMessage({ thread: threadId, used: await lowest() })
  }
}
