import { clearScreenDown, moveCursor } from 'node:readline'
import type { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import type { Progress } from '../progress.js'
import type { Frame, View } from './frame.js'
import { comparison, frameLine, frameTable, introduction, styled } from './text.js'

/** Time between two lines where the screen can't be redrawn, ms. */
const LINE_INTERVAL = 1_000

/** Phases of a demo. */
const PHASES = 2

/** Shows no more than how far it is. Clear `progress` when the demo has ended, also by an error. */
export function progressView(progress: Progress): View {
  let ended = 0
  let doing = ''
  const tell = (part: number) => progress.step(doing, (ended + part) / PHASES)
  return {
    begin() {},
    note(text) {
      doing = text
      tell(0)
    },
    frame({ policy, elapsed, duration }, last) {
      doing = policy
      tell(Math.min(1, elapsed / duration))
      if (last) ended++
    },
    end: () => progress.clear(),
  }
}

/** Prints lines, for a log or a pipe. */
export function lineView(out: NodeJS.WritableStream): View {
  const print = (text: string) => out.write(`${text}\n`)
  let printed = Number.NEGATIVE_INFINITY
  return {
    begin: (options, scene, engine) => print(introduction(options, scene, engine)),
    note: (text) => print(`${text} …`),
    frame(frame, last) {
      const now = performance.now()
      // Frames come on a timer: one that is a little early is not left out.
      if (!last && now - printed < LINE_INTERVAL - 50) return
      printed = now
      print(last ? frameTable(frame) : frameLine(frame))
    },
    end: (result) => print(`\n${comparison(result)}`),
  }
}

/** Redraws a table in place. Where it doesn't fit on the screen, prints lines instead. */
export function screenView(out: WriteStream): View {
  const lines = lineView(out)
  let drawn = 0
  const erase = () => {
    if (drawn > 0) moveCursor(out, 0, -drawn)
    if (drawn > 0) clearScreenDown(out)
    drawn = 0
  }
  const draw = (text: string) => {
    erase()
    out.write(`${text}\n`)
    drawn = text.split('\n').length
  }
  const fits = (text: string) => {
    const rows = text.split('\n')
    const width = Math.max(...rows.map((row) => stripVTControlCharacters(row).length))
    return width < out.columns && rows.length < out.rows
  }
  return {
    begin(options, scene, engine) {
      erase()
      lines.begin(options, scene, engine)
      out.write('\n')
    },
    note: (text) => draw(styled('dim', `${text} …`)),
    frame(frame: Frame, last: boolean) {
      const text = frameTable(frame)
      if (fits(text)) draw(text)
      else {
        erase()
        lines.frame(frame, last)
      }
      // The last one stays.
      if (last) drawn = 0
    },
    end(result) {
      erase()
      lines.end(result)
    },
  }
}
