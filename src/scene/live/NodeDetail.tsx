import { useEffect, useRef } from 'preact/hooks'
import { count } from '../../format.js'
import type { LiveNode } from '../../live/live-view.js'
import { Chart } from '../parts/chart.js'
import { duration, percent, shareText, short } from './format.js'
import type { History } from './history.js'

interface NodeDetailProps {
  readonly node: LiveNode
  readonly history: History
  readonly onClose: () => void
}

/** All that is known of one node, and its last minutes. */
export function NodeDetail({ node, history, onClose }: NodeDetailProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { id, why } = node
  useEffect(() => heading.current?.focus(), [id])
  return (
    <section
      class="card detail"
      aria-label={`Node ${id}`}
      onKeyDown={({ key }) => {
        if (key === 'Escape') onClose()
      }}
    >
      <header>
        <h2 ref={heading} tabIndex={-1}>
          {id}
        </h2>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </header>
      <p class={why === undefined ? 'soft' : 'why'}>
        {why === undefined ? 'It may be picked.' : `Not picked now: ${why}.`}
      </p>
      <dl class="facts">
        {factsOf(node).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="charts">
        <Chart
          title="CPU"
          about={`Now ${percent(node.cpu)}.`}
          x={history.times}
          lines={[{ label: 'CPU', color: '--server-1', values: history.of(id, 'cpu') }]}
          format={percent}
          step={0.1}
          formatX={secondsText}
          stepX={1}
          height={140}
        />
        <Chart
          title="Picks per second, requests in flight"
          about={`Now ${short(node.picksPerSecond)} a second, ${count(node.inFlight)} in flight.`}
          x={history.times}
          lines={[
            { label: 'Picks/s', color: '--server-2', values: history.of(id, 'picksPerSecond') },
            { label: 'In flight', color: '--server-3', values: history.of(id, 'inFlight'), dash: [4, 3] },
          ]}
          format={short}
          formatX={secondsText}
          stepX={1}
          height={140}
        />
      </div>
    </section>
  )
}

// Of the time since the balancer is served.
function secondsText(seconds: number): string {
  return `${count(seconds)} s`
}

function factsOf(node: LiveNode): readonly (readonly [string, string])[] {
  const { told, ejected, suspect, poll, report, released, failed } = node
  const facts: [string, string | undefined][] = [
    ['State', node.state],
    ['It told', told.state && `that it is ${told.state}`],
    ['Weight it told', told.weight === undefined ? undefined : percent(told.weight)],
    ['Fixed weight', node.fixedWeight === undefined ? undefined : short(node.fixedWeight)],
    ['Most in flight', told.maxInFlight ? count(told.maxInFlight) : undefined],
    ['Ejected', ejected && `for ${duration(ejected.remaining)} more, time ${ejected.times ?? '–'}`],
    ['Suspect', suspect],
    ['Polls', poll && `failed ${count(poll.count)} times in a row: ${poll.reason}`],
    ['Report', node.age === undefined ? 'none' : `${duration(node.age)} old${node.fresh ? '' : ', too old'}`],
    ['Share', shareText(node.share)],
    ['Picks', count(node.picks)],
    ['Leases', `${count(released)} released, ${count(failed)} failed`],
    ['Latency', node.latency === undefined ? undefined : `${duration(node.latency)} on average`],
    ['Application', report.application === undefined ? undefined : percent(report.application)],
    ['Memory', report.memory === undefined ? undefined : percent(report.memory)],
    ['Requests', report.qps === undefined ? undefined : `${short(report.qps)} a second`],
    ['Errors', report.eps === undefined ? undefined : `${short(report.eps)} a second`],
    ['In flight there', report.inFlight === undefined ? undefined : count(report.inFlight)],
    ['Its latency', report.latency === undefined ? undefined : duration(report.latency)],
    ['Its queue delay', report.queueDelay === undefined ? undefined : duration(report.queueDelay)],
  ]
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
}
