import { Component } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Arrangement, SortKey } from '../../live/arrange.js'
import type { LiveNode } from '../../live/live-view.js'
import type { Column } from './columns.js'
import type { History } from './history.js'
import { useRoom } from './use-room.js'

interface NodeTableProps {
  readonly nodes: readonly LiveNode[]
  readonly columns: readonly Column[]
  readonly history: History
  readonly arrangement: Arrangement
  readonly chosen: string | undefined
  readonly onSort: (key: SortKey, isDescendingFirst: boolean) => void
  readonly onChoose: (id: string) => void
}

/** px: rows are all as high, as the style sheet has it. */
const ROW = 40
/** Rows that are made above and below those in sight, and how many are gone over before others are made. */
const SPARE = 8
const STEP = 4

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}

/** All nodes; of thousands those alone are made that are in sight. */
export function NodeTable(props: NodeTableProps) {
  const { nodes, columns, history, arrangement, chosen, onSort, onChoose } = props
  const box = useRef<HTMLElement>(null)
  const { first, last } = useWindow(box, nodes.length)
  const room = useRoom(box)
  const [cursor, setCursor] = useState(0)
  const toFocus = useRef(false)
  // One stop of the tab key: the row that was gone to, or the first in sight.
  const stop = cursor >= first && cursor < last ? cursor : first

  const latest = useRef(onChoose)
  latest.current = onChoose
  const onPress = useCallback((id: string, index: number) => {
    setCursor(index)
    latest.current(id)
  }, [])

  function go(event: KeyboardEvent): void {
    const step = STEPS[event.key]
    if (step === undefined || nodes.length === 0) return
    event.preventDefault()
    const next = Math.min(Math.max(stop + step, 0), nodes.length - 1)
    toFocus.current = true
    setCursor(next)
    scrollTo(box.current, next)
  }

  useLayoutEffect(() => {
    if (!toFocus.current) return
    const button = box.current?.querySelector<HTMLButtonElement>(`button[data-row="${cursor}"]`)
    if (!button) return
    toFocus.current = false
    button.focus({ preventScroll: true })
  })

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and by the keyboard too
    <section class="nodes" data-room={room} ref={box} tabIndex={0} aria-label="Nodes">
      <table aria-rowcount={nodes.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <SortHead label="Node" about="Its id" sort="id" {...{ arrangement, onSort }} from="phone" />
            {columns.map(({ key, label, about, isNumber, isDescendingFirst, from }) => (
              <SortHead
                key={key}
                sort={key}
                {...{ label, about, isNumber, isDescendingFirst, from, arrangement, onSort }}
              />
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={go}>
          <Gap rows={first} columns={columns.length + 1} />
          {nodes.slice(first, last).map((node, i) => (
            <Row
              key={node.id}
              index={first + i}
              isStop={first + i === stop}
              isChosen={node.id === chosen}
              {...{ node, columns, history, onPress }}
            />
          ))}
          <Gap rows={nodes.length - last} columns={columns.length + 1} />
        </tbody>
      </table>
    </section>
  )
}

interface RowProps {
  readonly node: LiveNode
  readonly index: number
  readonly columns: readonly Column[]
  readonly history: History
  /** Whether the tab key stops here. */
  readonly isStop: boolean
  readonly isChosen: boolean
  readonly onPress: (id: string, index: number) => void
}

/** Made anew where it shows something else alone: each view has nodes of its own, and scrolling has the same. */
class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    return (Object.keys(next) as (keyof RowProps)[]).some((name) => next[name] !== this.props[name])
  }

  override render({ node, index, columns, history, isStop, isChosen, onPress }: RowProps) {
    const { id, reason } = node
    return (
      <tr
        aria-rowindex={index + 2}
        onClick={() => {
          // A text that was marked is to be copied.
          if (getSelection()?.isCollapsed !== false) onPress(id, index)
        }}
        class={`row${reason === undefined ? '' : ' out'}${isChosen ? ' chosen' : ''}`}
      >
        <th scope="row">
          <button
            type="button"
            class="name"
            data-row={index}
            tabIndex={isStop ? 0 : -1}
            aria-pressed={isChosen}
            title={id}
          >
            {id}
          </button>
        </th>
        {columns.map(({ key, isNumber, from, cell }) => (
          <td key={key} class={`${from} ${key}${isNumber ? ' number' : ''}`}>
            {cell(node, history)}
          </td>
        ))}
      </tr>
    )
  }
}

interface SortHeadProps extends Pick<NodeTableProps, 'arrangement' | 'onSort'> {
  readonly sort: SortKey
  readonly label: string
  readonly about: string
  readonly isNumber?: boolean
  readonly isDescendingFirst?: boolean
  readonly from: string
}

function SortHead(props: SortHeadProps) {
  const { sort, label, about, isNumber = false, isDescendingFirst = false, from, arrangement, onSort } = props
  const isSorted = arrangement.sort === sort
  const direction = arrangement.isDescending ? 'descending' : 'ascending'
  return (
    <th scope="col" aria-sort={isSorted ? direction : 'none'} class={`${from}${isNumber ? ' number' : ''}`}>
      <button type="button" class="sort" title={about} onClick={() => onSort(sort, isDescendingFirst)}>
        {label}
        <span aria-hidden="true">{isSorted ? (arrangement.isDescending ? ' ▾' : ' ▴') : ''}</span>
      </button>
    </th>
  )
}

/** Holds the place of rows that are out of sight. */
function Gap({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  if (rows <= 0) return null
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row is not
    <tr aria-hidden="true" class="gap">
      <td colSpan={columns} style={{ height: `${rows * ROW}px` }} />
    </tr>
  )
}

/** Which rows are in sight, and some around them: so that the same ones are for a while. */
function useWindow(box: { readonly current: HTMLElement | null }, count: number) {
  const [start, setStart] = useState(0)
  const [rows, setRows] = useState(20)
  useEffect(() => {
    const element = box.current
    if (!element) return
    const look = () => {
      setStart(Math.floor(element.scrollTop / ROW / STEP) * STEP)
      setRows(Math.ceil(element.clientHeight / ROW) + STEP)
    }
    const observer = new ResizeObserver(look)
    observer.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [box])
  const first = Math.min(Math.max(start - SPARE, 0), Math.max(count - 1, 0))
  return { first, last: Math.min(first + rows + 2 * SPARE, count) }
}

// The head stays above the rows, so a row is in sight where it is below that.
function scrollTo(element: HTMLElement | null, row: number): void {
  if (!element) return
  const above = row * ROW
  const below = above + 2 * ROW - element.clientHeight
  if (element.scrollTop > above) element.scrollTop = above
  else if (element.scrollTop < below) element.scrollTop = below
}
