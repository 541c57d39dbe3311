import cliProgress, { type Options, type Params } from 'cli-progress'
import { type Clock, performanceClock } from '../clock.js'

/** How long work goes on without a word, and the least time between two lines where there is no terminal, ms. */
export const PATIENCE = 2_000

/** A line comes at this part of the work at the soonest, or after so long, ms. */
const LINE_PART = 0.1
const LINE_INTERVAL = 30_000

/** From this part on what is left is guessed. */
const ENOUGH_TO_GUESS = 0.05

/** Pictures a second: measuring goes on beside it. */
const FPS = 5

const BAR_SIZE = 24

/** Updates that the guess looks back on. */
const GUESS_FROM = 50

/** What progress is told on. */
export type ProgressStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }

interface Step {
  readonly what: string
  readonly done: number
  readonly all: number
}

interface Line extends Step {
  readonly at: number
}

/**
 * Tells how far long work is: a bar on a terminal, a few plain lines elsewhere. Nothing in the first two seconds. Also
 * for work that keeps the thread: no timer has to fire.
 *
 * The bar keeps the process alive: call {@link clear} whatever happens, before anything else is printed.
 */
export class Progress {
  readonly #stream: ProgressStream
  readonly #clock: Clock
  readonly #began: number
  #step: Step | undefined
  #bar: cliProgress.SingleBar | undefined
  #line: Line | undefined
  #timer: unknown

  /**
   * @param stream where it is told; default stderr, so that stdout is left to results
   * @param clock default the real one
   */
  constructor(stream: ProgressStream = process.stderr, clock: Clock = performanceClock()) {
    this.#stream = stream
    this.#clock = clock
    this.#began = clock.now()
  }

  /**
   * How far the work is; call it as often as is easy.
   * @param what what is done now, in a few words
   * @param done how much of it is done, 0 to `all`
   * @param all how much there is; where it is 1, only percents are told
   */
  step(what: string, done: number, all = 1): void {
    const other = what !== this.#step?.what || all !== this.#step.all
    this.#step = { what, done, all }
    const early = PATIENCE - (this.#clock.now() - this.#began)
    if (early <= 0) this.#show(this.#step, other)
    else this.#timer ??= this.#clock.setTimeout(() => this.#late(), early)
  }

  /** Prints a line that stays, without harm to the bar. */
  note(line: string): void {
    const bar = this.#bar !== undefined
    this.#stopBar()
    this.#stream.write(`${line}\n`)
    if (bar && this.#step !== undefined) this.#show(this.#step, true)
  }

  /** Takes the bar away. The next step brings it back, without two seconds of patience. */
  clear(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#step = undefined
    this.#stopBar()
  }

  /** The work waits for something: it is not going to tell of itself. */
  #late(): void {
    this.#timer = undefined
    if (this.#step !== undefined) this.#show(this.#step, true)
  }

  #show(step: Step, other: boolean): void {
    if (this.#stream.isTTY !== true) this.#print(step)
    else if (this.#bar === undefined || other) this.#startBar(step)
    else this.#bar.update(step.done)
  }

  #startBar({ what, done, all }: Step): void {
    this.#stopBar()
    this.#bar = new cliProgress.SingleBar({
      stream: this.#stream,
      format: (options, params) => barText(what, options, params),
      fps: FPS,
      etaBuffer: GUESS_FROM,
      barsize: BAR_SIZE,
      barCompleteChar: '█',
      barIncompleteChar: '░',
      clearOnComplete: true,
      // The terminal is left as it is, so that there is nothing to put right where the process is killed.
      linewrap: true,
      gracefulExit: false,
    })
    this.#bar.start(all, done)
  }

  #stopBar(): void {
    this.#bar?.stop()
    this.#bar = undefined
  }

  #print({ what, done, all }: Step): void {
    const at = this.#clock.now()
    const last = this.#line
    const same = last?.what === what && last.all === all
    const ends = same && done >= all && last.done < all
    if (last !== undefined && !ends) {
      if (at - last.at < PATIENCE) return
      if (same && done - last.done < LINE_PART * all && at - last.at < LINE_INTERVAL) return
      if (same && done === last.done) return
    }
    this.#line = { what, done, all, at }
    const far = all === 1 ? `${Math.floor(done * 100)} %` : `${done} of ${all}`
    this.#stream.write(`${what}: ${far}\n`)
  }
}

function barText(what: string, options: Options, { progress, value, total, eta }: Params): string {
  const percent = `${Math.floor(progress * 100)} %`.padStart(5)
  const counts = total === 1 ? '' : `, ${value} of ${total}`
  return `${what} ${cliProgress.Format.BarFormat(progress, options)}${percent}${counts}${left(progress, eta, options)}`
}

// The library's guess is a word where it has none.
function left(progress: number, eta: unknown, options: Options): string {
  if (progress < ENOUGH_TO_GUESS || progress >= 1 || typeof eta !== 'number') return ''
  return `, about ${cliProgress.Format.TimeFormat(eta, options, 1)} left`
}
