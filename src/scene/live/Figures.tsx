import type { ComponentChildren } from 'preact'
import { count } from '../../format.js'
import type { LiveView } from '../../live/live-view.js'
import { duration, percent, short } from './format.js'
import type { History } from './history.js'
import { Sparkline } from './Sparkline.js'

/** The balancer as a whole, in numbers. */
export function Figures({ view, history }: { readonly view: LiveView; readonly history: History }) {
  const { nodes, picks, picksPerSecond, empty, poll, stats } = view
  const out = nodes.filter(({ reason }) => reason !== undefined).length
  const inFlight = nodes.reduce((sum, node) => sum + node.inFlight, 0)
  const { health, suspicion } = stats
  return (
    <dl class="figures">
      <Figure name="Nodes" value={count(nodes.length)}>
        {out === 0 ? 'all may be picked' : `${count(out)} not picked now`}
      </Figure>
      <Figure name="Picks per second" value={short(picksPerSecond)}>
        {count(picks)} so far <Sparkline values={history.picks} />
      </Figure>
      <Figure name="In flight" value={count(inFlight)}>
        {empty === 0 ? 'every pick found a node' : `${count(empty)} picks found no node`}
      </Figure>
      <Figure name="Mean CPU" value={percent(meanCpu(view))}>
        of fresh reports
      </Figure>
      <Figure name="Ejected" value={count(health.ejected)} isBad={health.ejected > 0 || health.isOpen}>
        {health.isOpen ? 'all are ill, so all are picked' : `${count(suspicion.suspects)} suspect`}
      </Figure>
      {poll === undefined ? (
        <Figure name="Polls" value="none">
          reports come otherwise
        </Figure>
      ) : (
        <Figure name="Failing polls" value={count(poll.failing)} isBad={poll.failing > 0}>
          {count(poll.cycles)} cycles, {duration(poll.interval)} apart; {count(poll.exits)} unreachable and{' '}
          {count(poll.errors)} wrong so far
        </Figure>
      )}
    </dl>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: string
  readonly isBad?: boolean
  readonly children: ComponentChildren
}

function Figure({ name, value, isBad = false, children }: FigureProps) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd class={isBad ? 'value bad' : 'value'}>{value}</dd>
      <dd class="soft small">{children}</dd>
    </div>
  )
}

function meanCpu({ nodes }: LiveView): number | undefined {
  const fresh = nodes.flatMap(({ cpu, fresh }) => (cpu !== undefined && fresh ? cpu : []))
  return fresh.length === 0 ? undefined : fresh.reduce((sum, cpu) => sum + cpu, 0) / fresh.length
}
