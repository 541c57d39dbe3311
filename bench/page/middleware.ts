import { type Bar, middlewareBar } from '../bars.js'
import { KINDS, type Kind, type MeasuredServer, type MiddlewareResult } from '../figures/middleware.js'
import { digits, estimate } from '../numbers.js'
import type { Results } from '../results.js'
import { NONE } from './lookup.js'
import { bold, table } from './markdown.js'

const HEADS: Readonly<Record<Kind, string>> = {
  empty: 'one that does nothing',
  counted: 'counted',
  reported: 'with a report',
  anew: 'with one of its own',
}

/** What middleware adds to a request. */
export function middlewareTable({ figures, bars }: Results): string {
  const results = figures.middleware ?? []
  if (results.length === 0) return 'Not measured yet.'
  const cell = (one: MiddlewareResult, kind: Kind): string => {
    const found = one[kind]
    if (found === undefined) return kind === 'empty' ? '' : NONE
    return isMissed(bars, one.server, kind) ? bold(estimate(found)) : estimate(found)
  }
  return [
    table(
      ['added to a request, µs of CPU time', 'a request without', ...KINDS.map((kind) => HEADS[kind])],
      results.map((one) => [one.server, digits(one.plain.median), ...KINDS.map((kind) => cell(one, kind))]),
    ),
    '',
    'Added to a request: the mean over processes, and in brackets the interval that has the true mean in it 19 times of 20. Wanted:',
    'at most 5 µs, counted and with a report; what misses it is in bold. A report is written anew after 10 ms, by the one request',
    'that finds it old, and takes as much as the last column says; at 1,000 requests a second that is a tenth of it for each.',
  ].join('\n')
}

function isMissed(bars: readonly Bar[], server: MeasuredServer, kind: Kind): boolean {
  return bars.some(({ what, met }) => met === false && what === middlewareBar(server, kind))
}
