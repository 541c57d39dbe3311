import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { count } from '../../format.js'
import { type Arrangement, arrange, CHOICES, type Choice, type SortKey } from '../../live/arrange.js'
import type { FeedLost } from '../../live/follow.js'
import type { LiveView } from '../../live/live-view.js'
import { columnsFor } from './columns.js'
import { Figures } from './Figures.js'
import { duration } from './format.js'
import type { History } from './history.js'
import { NodeDetail } from './NodeDetail.js'
import { NodeTable } from './NodeTable.js'
import { keepToken, knownToken } from './token.js'
import { useLive } from './use-live.js'

const NAMES: Readonly<Record<Choice, string>> = {
  all: 'All nodes',
  picked: 'May be picked',
  out: 'Not picked now',
  trouble: 'In trouble',
}

const START: Arrangement = { sort: undefined, isDescending: false, filter: '', choice: 'all' }

/** A running balancer and its nodes. */
export function Live() {
  const [token, setToken] = useState(knownToken)
  const { view, lost, history } = useLive(token)
  const [held, setHeld] = useState<LiveView>()
  const shown = held ?? view
  useEffect(() => {
    if (view !== undefined) document.title = `${view.balancer}: idlest`
  }, [view?.balancer])
  return (
    <>
      <header class="top">
        <h1>{shown?.balancer ?? 'idlest'}</h1>
        {shown !== undefined && <About view={shown} />}
        <Connection lost={lost} isKnown={view !== undefined} isHeld={held !== undefined} />
      </header>
      <main>
        {lost?.status === 401 && (
          <TokenForm
            onToken={(given) => {
              keepToken(given)
              setToken(given)
            }}
          />
        )}
        {shown !== undefined && (
          <Shown
            view={shown}
            history={history}
            isHeld={held !== undefined}
            onHold={(isHeld) => setHeld(isHeld ? view : undefined)}
          />
        )}
      </main>
    </>
  )
}

function About({ view }: { readonly view: LiveView }) {
  const { algorithm, engine, uptime, rules } = view
  const details = [
    `${algorithm}, ${engine} engine`,
    rules.ttl !== undefined && `reports count for ${duration(rules.ttl)}`,
    rules.threshold !== undefined && `band of ${rules.threshold} points`,
    `process up ${duration(uptime)}`,
  ]
  return <p class="soft small">{details.filter(Boolean).join(' · ')}</p>
}

interface ConnectionProps {
  readonly lost: FeedLost | undefined
  readonly isKnown: boolean
  readonly isHeld: boolean
}

/** Said where it changes alone. */
function Connection({ lost, isKnown, isHeld }: ConnectionProps) {
  const tone = lost !== undefined ? 'bad' : isHeld ? 'warn' : 'good'
  return (
    <p class={`connection ${tone}`} role="status">
      {wordsFor(lost, isKnown, isHeld)}
    </p>
  )
}

function wordsFor(lost: FeedLost | undefined, isKnown: boolean, isHeld: boolean): string {
  if (lost !== undefined) {
    const what = isKnown ? 'Connection lost; this is what was known last' : 'Not connected'
    return `${what}: ${lost.error.message}. Trying again.`
  }
  if (!isKnown) return 'Connecting'
  return isHeld ? 'Paused' : 'Live'
}

function TokenForm({ onToken }: { readonly onToken: (token: string) => void }) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <form
      class="card token"
      onSubmit={(event) => {
        event.preventDefault()
        const given = field.current?.value.trim() ?? ''
        if (given !== '') onToken(given)
      }}
    >
      <label for="token">Token</label>
      <input id="token" ref={field} type="password" autocomplete="off" required />
      <button type="submit" class="primary">
        Look
      </button>
      <p class="soft small">The one that the balancer is served with. It is kept until this tab is closed.</p>
    </form>
  )
}

interface ShownProps {
  readonly view: LiveView
  readonly history: History
  readonly isHeld: boolean
  readonly onHold: (isHeld: boolean) => void
}

function Shown({ view, history, isHeld, onHold }: ShownProps) {
  const [arrangement, setArrangement] = useState(START)
  const [chosen, setChosen] = useState<string>()
  const nodes = useMemo(() => arrange(view.nodes, arrangement), [view, arrangement])
  const columns = useMemo(() => columnsFor(view.value), [view.algorithm])
  const node = chosen === undefined ? undefined : view.nodes.find(({ id }) => id === chosen)
  const filter = useRef<HTMLInputElement>(null)
  useEffect(() => onSlash(() => filter.current?.focus()), [])

  function sortBy(key: SortKey, isDescendingFirst: boolean): void {
    setArrangement((before) => ({
      ...before,
      sort: key,
      isDescending: before.sort === key ? !before.isDescending : isDescendingFirst,
    }))
  }

  function close(): void {
    const row = document.querySelector<HTMLButtonElement>('button.name[aria-pressed="true"]')
    setChosen(undefined)
    row?.focus()
  }

  return (
    <>
      <Figures view={view} history={history} />
      <div class="tools">
        <label for="filter">Filter</label>
        <input
          id="filter"
          ref={filter}
          type="search"
          placeholder="id, state, reason"
          value={arrangement.filter}
          onInput={({ currentTarget: { value } }) => setArrangement({ ...arrangement, filter: value })}
        />
        <label for="choice" class="visually-hidden">
          Which nodes
        </label>
        <select
          id="choice"
          value={arrangement.choice}
          onChange={({ currentTarget: { value } }) =>
            setArrangement({ ...arrangement, choice: value as Choice })
          }
        >
          {CHOICES.map((choice) => (
            <option key={choice} value={choice}>
              {NAMES[choice]}
            </option>
          ))}
        </select>
        <button type="button" aria-pressed={isHeld} onClick={() => onHold(!isHeld)}>
          Pause
        </button>
        <output for="filter choice" class="soft small">
          {nodes.length === view.nodes.length
            ? `${count(nodes.length)} nodes`
            : `${count(nodes.length)} of ${count(view.nodes.length)} nodes`}
        </output>
      </div>
      {node !== undefined && <NodeDetail node={node} history={history} onClose={close} />}
      <NodeTable
        {...{ nodes, columns, history, arrangement, chosen }}
        onSort={sortBy}
        onChoose={(id) => setChosen(id === chosen ? undefined : id)}
      />
    </>
  )
}

/** `/` goes to the filter, but where something is being written. */
function onSlash(run: () => void): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.key !== '/' || (event.target as Element).matches('input, select, textarea')) return
    event.preventDefault()
    run()
  }
  document.addEventListener('keydown', listen)
  return () => document.removeEventListener('keydown', listen)
}
