import { useState } from 'preact/hooks'
import type { ReportData } from '../model/report-data.js'
import { Distribution } from './Distribution.js'
import { lookOf } from './lines.js'
import { Made } from './Made.js'
import { ResponseTable, ServerTable } from './Tables.js'
import { Changes, SharesOverTime, TailOverTime } from './TimeCharts.js'

/** More lines in one chart are hard to follow, so that no more are shown at first. */
const SHOWN_AT_FIRST = 6

/** What a simulation found. */
export function Report({ data }: { readonly data: ReportData }) {
  const { policies } = data
  const [shown, setShown] = useState<readonly string[]>(
    policies.slice(0, SHOWN_AT_FIRST).map(({ name }) => name),
  )
  const isShown = (name: string): boolean => shown.includes(name)
  const toggle = (name: string): void =>
    setShown(isShown(name) ? shown.filter((other) => other !== name) : [...shown, name])
  const drawn = policies
    .map((policy, i) => ({ policy, look: lookOf(i) }))
    .filter(({ policy }) => isShown(policy.name))
  return (
    <>
      <header class="report">
        <p class="small soft">idlest simulate</p>
        <h1>{data.title}</h1>
        <p class="about">{data.about}.</p>
      </header>
      <main class="report">
        <section class="card" aria-labelledby="responses">
          <h2 id="responses">Response times</h2>
          <ResponseTable policies={policies} />
        </section>
        {policies.length > 1 && (
          <fieldset class="card choices">
            <legend>Policies in the charts</legend>
            {policies.map(({ name }) => (
              <label key={name}>
                <input type="checkbox" checked={isShown(name)} onChange={() => toggle(name)} /> {name}
              </label>
            ))}
          </fieldset>
        )}
        <section class="card" aria-labelledby="tail">
          <h2 id="tail">p99 over time</h2>
          <p class="soft">
            Of the requests that arrived in each window: what waits for long is shown where it began to wait.
            A gap is a window without an answer.
          </p>
          <TailOverTime drawn={drawn} data={data} />
          <Changes data={data} />
        </section>
        <section class="card" aria-labelledby="distribution">
          <h2 id="distribution">How long requests took</h2>
          <p class="soft">
            The share of requests that were answered within a time. A line further to the left is better.
          </p>
          <Distribution drawn={drawn} />
        </section>
        <section class="card" aria-labelledby="shares">
          <h2 id="shares">Who got the requests</h2>
          <SharesOverTime data={data} />
        </section>
        {data.servers.length > 0 && (
          <section class="card" aria-labelledby="servers">
            <h2 id="servers">Servers</h2>
            <ServerTable servers={data.servers} policies={policies} />
          </section>
        )}
        <Made data={data} />
      </main>
    </>
  )
}
