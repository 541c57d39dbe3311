import { count, milliseconds, percent } from '../../format.js'
import { scenePolicies } from '../model/inputs.js'
import type { Player } from '../model/player.js'
import { lastTold, span, titleOf, worstWindow } from '../model/words.js'
import { useTicks } from './player.js'

/** What came of one run so far. */
export function RunFigures({ player, which }: { player: Player; which: number }) {
  useTicks(player)
  const run = player.runs[which]
  if (run === undefined) return null
  const figures = [
    { name: 'p50', title: 'Half of the responses within', value: milliseconds(run.p50), note: 'last 10 s' },
    { name: 'p99', title: '99 of 100 within', value: milliseconds(run.p99), note: 'last 10 s' },
    {
      name: 'worst-share',
      title: 'Worst window',
      value: worstWindow(run),
      note: `${span(run.worstWindowLength)} long`,
    },
    { name: 'sent', title: 'Requests sent', value: count(run.sentTotal), note: 'since the start' },
  ]
  return (
    <dl class="figures">
      {figures.map(({ name, title, value, note }) => (
        <div key={name}>
          <dt>
            {title} <span class="note">{note}</span>
          </dt>
          <dd data-figure={name}>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** What the drawings show, as tables. */
export function ServersTable({ player }: { player: Player }) {
  useTicks(player)
  return (
    <details class="tables" open>
      <summary>Figures of the servers</summary>
      {player.runs.map((run, which) => (
        <section
          key={which}
          id={`servers-${which + 1}`}
          class="table-box scrolls"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: where it is wider than the page, keys scroll it
          tabIndex={0}
          aria-label={`Figures of ${scenePolicies[run.policy].title}`}
        >
          <table>
            <caption>
              {scenePolicies[run.policy].title}; requests so far:{' '}
              <code data-figure="digest">{run.digest()}</code>
            </caption>
            <thead>
              <tr>
                <th scope="col">Server</th>
                <th scope="col">Of requests</th>
                <th scope="col">Busy serving</th>
                <th scope="col">CPU now</th>
                <th scope="col">Last told</th>
                <th scope="col">Lost</th>
                <th scope="col">Waiting</th>
                <th scope="col">Sent</th>
              </tr>
            </thead>
            <tbody>
              {run.servers.map((server, i) => (
                <tr key={server.name}>
                  <th scope="row">
                    <span class="swatch" style={{ '--own': `var(--server-${i + 1})` }} />
                    {titleOf(i)}
                  </th>
                  <td>{percent(server.share * 100)}</td>
                  <td>{percent(server.busy * 100)}</td>
                  <td>{percent(server.cpu)}</td>
                  <td>{lastTold(server)}</td>
                  <td>{server.lost === 0 ? '–' : percent(server.lost * 100)}</td>
                  <td>{count(server.queue)}</td>
                  <td>{count(server.sent)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ))}
    </details>
  )
}
