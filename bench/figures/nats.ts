import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { NatsSettings } from '../settings.js'
import { firstMessage, startChild } from './child.js'

/** What hearing reports cost the process that heard them. */
export interface NatsMeasures {
  /** ms */
  readonly elapsed: number
  /** Reports. */
  readonly heard: number
  /** CPU time of the whole process, ms. */
  readonly processCpu: number
  /** CPU time of the polling thread, ms; undefined where the system does not tell. */
  readonly threadCpu?: number
}

export interface NatsResult extends NatsSettings {
  /** While each node published once a second. */
  readonly steady: NatsMeasures
  /** While reports were published as fast as they were heard. */
  readonly flooded: NatsMeasures
}

/** What the one that publishes does; then the first node says `QUIET` or, after the others, `LAST`. */
export type Publishing =
  | { readonly kind: 'quiet' }
  | { readonly kind: 'steady'; readonly time: number }
  | { readonly kind: 'flood'; readonly count: number }

/** CPU of the first node in percent, which says that there is no report on the way any more. */
export const QUIET = 90
export const LAST = 91

/** The id of a node. */
export function nodeOf(node: number): string {
  return `10.0.${node >> 8}.${node & 255}:8080`
}

/** Has a balancer hear nodes that publish, over a NATS server that runs already. */
export async function measureNats(address: string, settings: NatsSettings): Promise<NatsResult> {
  const args = [address, `${settings.nodes}`]
  const publisher = startChild(new URL('./nats-publisher.ts', import.meta.url), args)
  const hearer = startChild(new URL('./nats-hearer.ts', import.meta.url), args, ['--no-warnings'])
  try {
    await Promise.all([firstMessage(publisher), firstMessage(hearer)])
    const measure = async (publishing: Publishing): Promise<NatsMeasures> => {
      await exchange(publisher, { kind: 'quiet' } satisfies Publishing)
      await exchange(hearer, 'begin')
      const heard = (await exchange(publisher, publishing)) as number
      return { ...((await exchange(hearer, 'end')) as Omit<NatsMeasures, 'heard'>), heard }
    }
    const steady = await measure({ kind: 'steady', time: settings.time })
    const flooded = await measure({ kind: 'flood', count: settings.flood })
    return { ...settings, steady, flooded }
  } finally {
    publisher.kill()
    hearer.kill()
  }
}

async function exchange(child: ChildProcess, message: object | string): Promise<unknown> {
  const answer = once(child, 'message')
  child.send(message)
  return (await answer)[0]
}
