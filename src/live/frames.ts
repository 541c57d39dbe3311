import { COLUMNS, cellsOf, nodeFrom, type SentColumn } from './columns.js'
import { checkFrame, NoFrameError } from './frame-check.js'
import type { LiveHead, LiveView } from './live-view.js'
import { viewOf } from './view-of.js'

/** Frames of another version are not understood. */
export const FRAME_VERSION = 1

/** One event of a stream. */
interface Frame {
  readonly version: number
  /** Whether it stands by itself; else it has the columns alone that are not as in the frame before. */
  readonly isWhole: boolean
  readonly head: LiveHead
  /** How many members there are. */
  readonly count: number
  readonly columns: Readonly<Record<string, SentColumn>>
}

function parsed(text: string): { readonly version?: unknown } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // What the parser says repeats what came.
  }
  if (typeof value !== 'object' || value === null) throw new NoFrameError('it sends no frames')
  return value
}

function otherVersion(version: unknown): Error {
  if (typeof version !== 'number') return new NoFrameError('it sends no frames')
  return new Error(
    `the balancer is another version of idlest: its frames are of version ${version}, not ${FRAME_VERSION}`,
  )
}

/** Reads frames in the order in which they were written. */
export class FrameReader {
  readonly #columns = new Map<string, SentColumn>()
  #count = -1

  /** @throws Error where it is no frame, or does not go on from the last one */
  read(text: string): LiveView {
    const frame = parsed(text)
    if (frame.version !== FRAME_VERSION) throw otherVersion(frame.version)
    checkFrame(frame)
    const { isWhole, head, count, columns } = frame as Frame
    if (isWhole) this.#columns.clear()
    else if (count !== this.#count) throw new Error('a frame is missing')
    this.#count = count
    for (const [name, column] of Object.entries(columns)) this.#columns.set(name, column)
    const cells = new Map(COLUMNS.map(({ name }) => [name, cellsOf(this.#columns.get(name), count)]))
    const nodes = Array.from({ length: count }, (_, i) => nodeFrom((name) => cells.get(name)?.[i]))
    return viewOf(head, nodes)
  }
}
