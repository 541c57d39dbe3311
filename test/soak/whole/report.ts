import { rise } from './slope.js'
import type { WholeOutcome } from './whole.js'
import { balances, type Look } from './words.js'

const MIB = 2 ** 20

/**
 * Most that memory may rise by over the last two thirds, by a line through all looks, bytes: what is in use after a
 * collection, and that of the process. The latter goes up and down by 30 MiB and more, as threads come and go, and nodes that do
 * everything wrong send floods of 10 MB. What keeps it from rising without a leak is in `whole.ts`.
 */
export const MOST_RISE = { used: 2 * MIB, rss: 32 * MIB } as const

const mib = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`

/** What a look says, in a line. */
export function lineOf({
  at,
  rss,
  heap,
  external,
  threads,
  polling,
  picks,
  polls,
  reports,
  changes,
  leases,
  open,
}: Look): string {
  const count = (number: number) => number.toLocaleString('en')
  return [
    `${(at / 60_000).toFixed(1)} min`,
    `process ${mib(rss)}`,
    `heap ${mib(heap)}`,
    `external ${mib(external)}`,
    `threads ${mib(threads)}`,
    `polling thread ${mib(polling)}`,
    `${open} files open`,
    `${count(picks)} picks`,
    `${count(leases)} leases`,
    `${count(polls)} polls`,
    `${count(reports)} reports`,
    `${count(changes)} changes of members`,
  ].join(', ')
}

/** What is wrong with what a soak came to, in words. */
export function faultsOf({ balances: all, looks }: WholeOutcome): string[] {
  const wrong = all
    .filter((balance) => !balances(balance))
    .map(
      ({ what, counted, made, slack }) =>
        `${what}: ${counted}, not ${made}${slack ? ` less at most ${slack}` : ''}`,
    )
  for (const kind of ['used', 'rss'] as const) {
    const risen = rise(looks, (look) => look[kind])
    if (risen > MOST_RISE[kind])
      wrong.push(`memory (${kind}) rises by ${mib(risen)}, of at most ${mib(MOST_RISE[kind])}`)
  }
  return wrong
}

/** What a soak came to, for people. */
export function printed(outcome: WholeOutcome): string {
  const { looks, totals, faults, balances: all } = outcome
  const last = looks.at(-1)
  const minutes = (last?.at ?? 0) / 60_000
  const rises = (['used', 'rss'] as const).map((kind) => `${kind} ${mib(rise(looks, (look) => look[kind]))}`)
  const exact = all.filter(({ slack = 0 }) => slack === 0).length
  const wrong = faultsOf(outcome)
  return [
    `${minutes.toFixed(1)} minutes`,
    ...Object.entries({ ...totals, ...faults }).map(
      ([what, count]) => `  ${what}: ${count.toLocaleString('en')}`,
    ),
    `memory over the last two thirds rises by: ${rises.join(', ')}`,
    `counters: ${all.length} compared, ${exact} of them exactly`,
    ...all.flatMap(({ what, counted, made, slack = 0 }) =>
      slack > 0 ? `  ${what}: ${counted} of ${made}, at most ${slack} less` : [],
    ),
    wrong.length === 0 ? 'nothing is lost, and nothing grows' : wrong.join('\n'),
  ].join('\n')
}
