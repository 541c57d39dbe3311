import type { Governor } from './governor.js'

/**
 * CPU of this process over the last `window` ms or a little more, in percent of its share of one core. Over a short
 * time CPU jumps between idle and full: a mean over several samples says better where work fits. What the process had
 * work for and was due, but the system gave to others, counts as used, as steal does: there is no more of it left.
 * No value before the second sample.
 * @param share part of one core
 */
export function shareSampler(
  governor: Pick<Governor, 'usage'>,
  share: number,
  window: number,
): () => number | undefined {
  const samples: { readonly used: number; readonly time: number }[] = []
  return () => {
    const { cpu, lost, time } = governor.usage()
    const now = { used: cpu + lost, time }
    samples.push(now)
    while (samples.length > 2 && time - (samples[1] ?? now).time >= window) samples.shift()
    const first = samples[0] ?? now
    return first === now ? undefined : ((now.used - first.used) / (time - first.time) / share) * 100
  }
}
