import type { ComponentChildren } from 'preact'
import { count } from '../../format.js'
import { failedShare, loadOf, type SortKey, weightOf } from '../../live/arrange.js'
import type { LiveNode, LiveView } from '../../live/live-view.js'
import { duration, percent, shareText, short } from './format.js'
import type { History } from './history.js'
import { Sparkline } from './Sparkline.js'
import type { Room } from './use-room.js'

/** A column of the table, but for the node's name, which comes first. */
export interface Column {
  readonly key: SortKey
  readonly label: string
  /** What it means. */
  readonly about: string
  readonly isNumber: boolean
  /** Whether the first click sorts from the largest down. */
  readonly isDescendingFirst: boolean
  /** The smallest room in which it is shown. */
  readonly from: Room
  readonly cell: (node: LiveNode, history: History) => ComponentChildren
}

/** The columns for an algorithm, with what it goes by. */
export function columnsFor(value: LiveView['value']): readonly Column[] {
  return value == null ? COLUMNS : COLUMNS.toSpliced(3, 0, loadColumn(value.label, value.about))
}

function loadColumn(label: string, about: string): Column {
  return number('load', label, about, 'desk', (node) => short(loadOf(node)))
}

function number(
  key: SortKey,
  label: string,
  about: string,
  from: Column['from'],
  cell: Column['cell'],
): Column {
  return { key, label, about, isNumber: true, isDescendingFirst: true, from, cell }
}

const COLUMNS: readonly Column[] = [
  {
    key: 'state',
    label: 'State',
    about: 'The gravest of what was ordered here and what the node told',
    isNumber: false,
    isDescendingFirst: false,
    from: 'phone',
    cell: (node) => <State node={node} />,
  },
  number('cpu', 'CPU', 'What it reported last', 'phone', ({ id, cpu }, history) => (
    <>
      <Sparkline values={history.of(id, 'cpu')} most={100} /> <span class="beside">{percent(cpu)}</span>
    </>
  )),
  number('age', 'Age', 'Of the report that counts', 'tablet', ({ age, fresh }) => (
    <span class={fresh || age === undefined ? undefined : 'stale'}>{duration(age)}</span>
  )),
  number('share', 'Share', 'Chance that the next pick is this node', 'tablet', ({ share }) =>
    shareText(share),
  ),
  number('sentShare', 'Sent', 'Its part of the picks since the last look', 'wide', ({ sentShare }) =>
    shareText(sentShare),
  ),
  number('inFlight', 'In flight', 'Requests of this process', 'tablet', ({ inFlight, told }) =>
    told.maxInFlight ? `${count(inFlight)} of ${count(told.maxInFlight)}` : count(inFlight),
  ),
  number('picksPerSecond', 'Picks/s', 'Since the last look', 'phone', ({ id, picksPerSecond }, history) => (
    <>
      <Sparkline values={history.of(id, 'picksPerSecond')} />{' '}
      <span class="beside">{short(picksPerSecond)}</span>
    </>
  )),
  number('failed', 'Failed', 'Share of its leases that failed', 'desk', (node) =>
    shareText(failedShare(node)),
  ),
  number('latency', 'Latency', 'Mean of its leases', 'wide', ({ latency }) => duration(latency)),
  number(
    'weight',
    'Weight',
    'By its reports, or fixed and told; empty where it is 1 or not known',
    'desk',
    (node) => {
      const weight = weightOf(node)
      return weight === undefined ? '' : short(weight)
    },
  ),
  number('ejected', 'Ejected', 'For how much longer', 'desk', ({ ejected }) => (
    <span class="trouble">
      {ejected && (ejected.remaining === undefined ? 'yes' : duration(ejected.remaining))}
    </span>
  )),
  number('polls', 'Poll errors', 'Polls in a row that failed, up to the last one', 'desk', ({ poll }) => (
    <span class="trouble" title={poll?.reason}>
      {poll && count(poll.count)}
    </span>
  )),
  {
    key: 'why',
    label: 'Why it is not picked',
    about: 'Empty where it may be',
    isNumber: false,
    isDescendingFirst: false,
    from: 'phone',
    cell: ({ why }) => <span title={why}>{why}</span>,
  },
]

function State({ node }: { readonly node: LiveNode }) {
  const { state, ejected, suspect, poll } = node
  const marks = [ejected && 'ejected', suspect && 'suspect', poll && 'unreachable'].filter(Boolean)
  const tone = state === 'down' || ejected ? 'bad' : state !== 'up' || marks.length > 0 ? 'warn' : 'good'
  return <span class={`badge ${tone}`}>{[state, ...marks].join(', ')}</span>
}
