import type { PollEvent } from '../../dist/index.js'
import type { PollSettings } from '../settings.js'
import { firstMessage, startChild } from './child.js'

export interface PollResult extends PollSettings {
  /** Of each cycle, ms. */
  readonly durations: readonly number[]
  /** Reports that each cycle stored. */
  readonly stored: readonly number[]
}

/** Polls agents of which some never answer, and takes the length of the cycles from telemetry. */
export async function pollCycles(settings: PollSettings): Promise<PollResult> {
  const { agents, silent, timeout, cycles } = settings
  const servers = startChild(new URL('./poll-agents.ts', import.meta.url), [`${agents}`, `${silent}`])
  try {
    const nodes = (await firstMessage(servers)) as string[]
    const poller = startChild(
      new URL('./poll-child.ts', import.meta.url),
      [`${timeout}`, `${cycles}`, ...nodes],
      ['--no-warnings'],
    )
    const ends = (await firstMessage(poller)) as PollEvent[]
    return {
      ...settings,
      durations: ends.map(({ duration }) => duration ?? Number.NaN),
      stored: ends.map(({ stored }) => stored ?? 0),
    }
  } finally {
    servers.kill()
  }
}
