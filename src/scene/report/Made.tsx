import { count } from '../../format.js'
import type { ReportData } from '../model/report-data.js'
import { timeText } from './numbers.js'

/** How the figures came about, so that they can be made again. */
export function Made({ data }: { readonly data: ReportData }) {
  const { log, policies, seed, version, warmup } = data
  const engines = [...new Set(policies.map(({ engine }) => engine ?? 'none'))].join(', ')
  return (
    <section class="card" aria-labelledby="made">
      <h2 id="made">How this was made</h2>
      <h3>Servers</h3>
      <ul>
        {data.fleet.map((group) => (
          <li key={group}>{group}</li>
        ))}
      </ul>
      {log !== undefined && (
        <>
          <h3>Log</h3>
          <p>
            {log.path}: {count(log.lines)} lines, {count(log.used)} used, {count(log.blank)} blank,{' '}
            {count(log.bad)} that could not be used
            {log.bad > 0 ? ', the first of them:' : '.'}
          </p>
          {log.bad > 0 && (
            <ul>
              {log.firstBad.map(({ line, why }) => (
                <li key={line}>
                  Line {line}: {why}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      <p class="soft">
        Simulated in virtual time by idlest {version}, engine {engines}, seed {seed}. All policies had the
        very same requests (fingerprint <code>{policies[0]?.workload}</code>). What arrived in the first{' '}
        {timeText(warmup)} is shown over time, but is in no other figure. Charts are right to 1 %; the table
        is exact.
      </p>
    </section>
  )
}
