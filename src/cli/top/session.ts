import { emitKeypressEvents, type Key } from 'node:readline'
import { setImmediate } from 'node:timers/promises'
import type { ReadStream, WriteStream } from 'node:tty'
import { type FeedLost, isView } from '../../live/feed.js'
import type { LiveView } from '../../live/live-view.js'
import { press } from './keys.js'
import type { TopModel } from './model.js'
import { paintFor } from './paint.js'
import { render, type Size } from './render.js'

// The alternate screen, without cursor and without wrapping; and what undoes it.
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J'
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l'

// What is between these appears at once, on terminals that know them.
const BEGIN_FRAME = '\x1b[?2026h'
const END_FRAME = '\x1b[?2026l'

/** Where a session is seen, and where its keys come from. */
export interface Terminal {
  readonly input: ReadStream
  readonly output: WriteStream
}

// A terminal that tells no size is taken for the usual one.
function sizeOf({ columns, rows }: WriteStream): Size {
  return { columns: columns || 80, rows: rows || 24 }
}

/** Draws screens, of each the lines alone that are other than before. */
class Screen {
  readonly #output: WriteStream
  #lines: string[] | undefined

  constructor(output: WriteStream) {
    this.#output = output
  }

  /** All lines are drawn the next time. */
  forget(): void {
    this.#lines = undefined
  }

  draw(lines: string[]): void {
    const before = this.#lines
    const height = Math.max(lines.length, before?.length ?? 0)
    let changes = before === undefined ? '\x1b[2J' : ''
    for (let i = 0; i < height; i++) {
      const line = lines[i] ?? ''
      if (line !== before?.[i]) changes += `\x1b[${i + 1};1H\x1b[2K${line}\x1b[0m`
    }
    this.#lines = lines
    if (changes !== '') this.#output.write(BEGIN_FRAME + changes + END_FRAME)
  }
}

/**
 * Shows a feed on a terminal until `q` is pressed, the feed ends or `signal` is aborted. The terminal is left as it was,
 * also where the process exits meanwhile.
 */
export async function runSession(
  model: TopModel,
  feed: AsyncIterable<LiveView | FeedLost>,
  { input, output }: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const paint = paintFor(output)
  const screen = new Screen(output)
  let quit = () => {}
  const done = new Promise<void>((resolve) => {
    quit = resolve
  })
  let entered = false
  let waiting = false

  const draw = () => {
    if (!entered) return
    // A terminal at the end of a slow line is shown the newest, not all.
    if (output.writableNeedDrain) {
      if (!waiting) output.once('drain', drained)
      waiting = true
    } else screen.draw(render(model, sizeOf(output), paint))
  }
  const drained = () => {
    waiting = false
    draw()
  }
  const resized = () => {
    screen.forget()
    draw()
  }
  const enter = () => {
    entered = true
    input.setRawMode(true)
    output.write(ENTER)
    resized()
  }
  const leave = () => {
    if (!entered) return
    entered = false
    // Where the terminal is gone there is nothing to put right.
    if (!output.destroyed) output.write(LEAVE)
    if (!input.destroyed) input.setRawMode(false)
  }
  const suspend = () => {
    leave()
    process.once('SIGCONT', enter)
    process.kill(process.pid, 'SIGTSTP')
  }
  const pressed = (_: string | undefined, key: Key) => {
    const command = press(model, key, sizeOf(output))
    if (command === 'quit') quit()
    // As without raw mode: whoever waits for signals hears of it.
    else if (command === 'interrupt') process.kill(process.pid, 'SIGINT')
    else if (command === 'suspend') suspend()
    else draw()
  }

  process.once('exit', leave)
  output.on('resize', resized)
  emitKeypressEvents(input)
  input.on('keypress', pressed)
  try {
    enter()
    await Promise.race([done, aborted(signal), follow(model, feed, draw)])
  } finally {
    leave()
    process.off('exit', leave)
    process.off('SIGCONT', enter)
    output.off('resize', resized)
    output.off('drain', drained)
    input.off('keypress', pressed)
    input.pause()
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

async function follow(
  model: TopModel,
  feed: AsyncIterable<LiveView | FeedLost>,
  draw: () => void,
): Promise<void> {
  for await (const one of feed) {
    if (isView(one)) model.show(one)
    else model.lose(one.error)
    draw()
    // Views that come faster than they are drawn are read one behind the other, before any key: so that no more than
    // reading them is done for those in between.
    await setImmediate()
  }
}
