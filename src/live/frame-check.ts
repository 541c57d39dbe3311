import * as v from 'valibot'
import { COLUMNS, type SentColumn } from './columns.js'

/** Whoever answers there sends something else than frames. */
export class NoFrameError extends Error {
  constructor(what: string) {
    super(`what answers there is no balancer that this idlest understands: ${what}`)
  }
}

const number = v.pipe(v.number(), v.finite())
const figure = v.optional(number)
const pollFigures = ['interval', 'cycles', 'asked', 'stored', 'errors', 'exits', 'failing'] as const

/** What is relied on of a frame's head; whatever else it has is left alone. */
const headSchema = v.looseObject({
  balancer: v.string(),
  engine: v.string(),
  algorithm: v.string(),
  value: v.nullish(v.looseObject({ label: v.string(), about: v.string() })),
  rules: v.looseObject({
    algorithm: v.string(),
    ttl: figure,
    threshold: figure,
    maxShare: figure,
    failures: figure,
    failureRate: figure,
  }),
  time: number,
  uptime: number,
  // As `serve` takes it.
  interval: v.pipe(number, v.minValue(1), v.maxValue(3_600_000)),
  window: number,
  picks: number,
  picksPerSecond: number,
  empty: number,
  poll: v.nullish(v.looseObject(v.entriesFromList(pollFigures, number))),
  stats: v.looseObject({
    health: v.looseObject({ ejected: number, isOpen: v.boolean() }),
    suspicion: v.looseObject({ suspects: number }),
  }),
})

const frameSchema = v.looseObject({
  isWhole: v.boolean(),
  head: headSchema,
  count: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  columns: v.record(v.string(), v.unknown()),
})

const checks = new Map(COLUMNS.map(({ name, isCell }) => [name, isCell]))

/**
 * Checks what came as a frame of the right version: its sizes fit, and each value is of its column's kind.
 * @throws NoFrameError
 */
export function checkFrame(frame: unknown): void {
  const checked = v.safeParse(frameSchema, frame)
  if (!checked.success) {
    throw new NoFrameError(`its ${v.getDotPath(checked.issues[0]) ?? 'frame'} is not as it should be`)
  }
  const { count, columns, isWhole } = checked.output
  for (const [name, column] of Object.entries(columns)) {
    if (isColumn(column, count, checks.get(name) ?? (() => true))) continue
    throw new NoFrameError(`its column ${JSON.stringify(name)} is not as it should be`)
  }
  // One id a node: so a frame has no more nodes than it has text for.
  const { id } = columns as Record<string, SentColumn>
  if (count > 1 && (id === undefined ? isWhole : !('each' in id)))
    throw new NoFrameError('its nodes have no ids')
  if (count === 1 && isWhole && (id === undefined || !('all' in id) || id.all === null)) {
    throw new NoFrameError('its node has no id')
  }
}

function isColumn(column: unknown, count: number, isCell: (value: unknown) => boolean): boolean {
  if (typeof column !== 'object' || column === null) return false
  const { each, all, at, of } = column as Readonly<Record<string, unknown>>
  const isRight = (cell: unknown) => cell === null || isCell(cell)
  if (each !== undefined) return Array.isArray(each) && each.length === count && each.every(isRight)
  if (all !== undefined) return isRight(all)
  if (!Array.isArray(at) || !Array.isArray(of) || at.length !== of.length || at.length > count) return false
  return at.every((i) => Number.isInteger(i) && i >= 0 && i < count) && of.every(isRight)
}
