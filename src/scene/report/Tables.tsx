import { count } from '../../format.js'
import type { PolicyData } from '../model/report-data.js'
import { percentText, timeText } from './numbers.js'

const HEADS = ['Mean', 'p50', 'p99', 'p99.9', 'Max', 'Worst share of a window', 'Failed', 'Unended']

/**
 * One row per policy; the least of each column of times stands out. A policy under which queues only grow has no times.
 */
export function ResponseTable({ policies }: { readonly policies: readonly PolicyData[] }) {
  const columns = ['mean', 'p50', 'p99', 'p999', 'max'] as const
  const least = new Map(
    columns.map((column) => [
      column,
      Math.min(
        ...policies.map((policy) => (policy.settled ? policy[column] : null) ?? Number.POSITIVE_INFINITY),
      ),
    ]),
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section class="scrolls" tabIndex={0} aria-label="Response times by policy">
      <table>
        <thead>
          <tr>
            <th scope="col">Policy</th>
            {HEADS.map((head) => (
              <th key={head} scope="col" class="number">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {policies.map((policy) => (
            <tr key={policy.name}>
              <th scope="row">{policy.name}</th>
              {policy.settled ? (
                columns.map((column) => (
                  <td key={column} class={policy[column] === least.get(column) ? 'number best' : 'number'}>
                    {timeText(policy[column])}
                  </td>
                ))
              ) : (
                <td colSpan={columns.length} class="number">
                  never settles
                </td>
              )}
              <td class="number">
                {policy.worst === undefined
                  ? '–'
                  : `${percentText(policy.worst.share)} ${policy.worst.server}`}
              </td>
              <td class="number">{count(policy.failed)}</td>
              <td class="number">{count(policy.unended)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** One row a server: its share of the requests, and how busy it was, under each policy. */
export function ServerTable({
  servers,
  policies,
}: {
  readonly servers: readonly string[]
  readonly policies: readonly PolicyData[]
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section class="scrolls" tabIndex={0} aria-label="Share and utilization by server">
      <table>
        <thead>
          <tr>
            <th scope="col">Share / utilization</th>
            {policies.map(({ name }) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {servers.map((server, i) => (
            <tr key={server}>
              <th scope="row">{server}</th>
              {policies.map(({ name, nodes }) => (
                <td key={name} class="number">
                  {percentText(nodes[i]?.share ?? null)} / {percentText(nodes[i]?.utilization ?? null)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
