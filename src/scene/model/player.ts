import { fleetOf } from './fleet.js'
import type { Inputs, ScenePolicy } from './inputs.js'
import { SceneRun } from './run.js'

/** Virtual time of a step, ms. */
export const STEP = 100
/** Virtual time of a skip, ms. */
export const SKIP = 60_000
/** Between two words to those who show figures, ms. */
export const BETWEEN_TICKS = 250
/** A frame that took longer counts as this, ms: the page was hidden, or the machine was busy. */
const LONGEST_FRAME = 100
/** Time that a frame may spend on the runs, ms; they fall behind rather than let the page stutter. */
const MOST_WORK = 10
/** Virtual time that is run between two looks at the clock, ms. */
const SLICE = 20

/** Where frames come from: `requestAnimationFrame` in a page. */
export interface Frames {
  /** Calls back at the next frame, with the time in ms. */
  request(callback: (now: number) => void): number
  cancel(request: number): void
  now(): number
}

/**
 * Told of every frame that is shown.
 * @param elapsed ms on the screen since the last one; Infinity where the run has jumped
 */
export type OnFrame = (elapsed: number) => void

/**
 * The inputs of the scene, its runs, and their time: one run, or two that stand at the same moment of the same
 * requests. What changes the run starts it from 0 again, with the same seed.
 */
export class Player {
  readonly #frames: Frames
  readonly #onFrame = new Set<OnFrame>()
  readonly #onTick = new Set<() => void>()
  #inputs: Inputs
  #runs: readonly SceneRun[]
  #restarts = 0
  #playing = false
  #request: number | undefined
  #last: number | undefined
  #sinceTick = 0
  // Up to which time is skipped, while it is.
  #skipTo: number | undefined

  constructor(inputs: Inputs, frames: Frames) {
    this.#frames = frames
    this.#inputs = inputs
    this.#runs = runsFor(inputs)
  }

  get inputs(): Inputs {
    return this.#inputs
  }

  /** One for each policy that is shown; others after a restart. */
  get runs(): readonly SceneRun[] {
    return this.#runs
  }

  /** Virtual time of all runs, ms. */
  get time(): number {
    return this.#first.time
  }

  /** Requests per second. */
  get rate(): number {
    return fleetOf(this.#inputs).rate
  }

  /** How often a run was started again. */
  get restarts(): number {
    return this.#restarts
  }

  get playing(): boolean {
    return this.#playing
  }

  /** Whether a skip is under way. */
  get skipping(): boolean {
    return this.#skipTo !== undefined
  }

  /** Whether the runs are at their end. */
  get over(): boolean {
    return this.#first.over
  }

  get #first(): SceneRun {
    return this.#runs[0] as SceneRun
  }

  /** Is told of every frame. Returns what ends it. */
  onFrame(listener: OnFrame): () => void {
    this.#onFrame.add(listener)
    return () => this.#onFrame.delete(listener)
  }

  /** Is told of changes, and a few times a second while the run goes on. Returns what ends it. */
  onTick(listener: () => void): () => void {
    this.#onTick.add(listener)
    return () => this.#onTick.delete(listener)
  }

  play(): void {
    if (this.#playing || this.over) return
    this.#playing = true
    this.#last = undefined
    if (this.#request === undefined) this.#await()
    this.#tick()
  }

  /** Stops where it is, within a skip too. */
  pause(): void {
    if (!this.#playing) return
    this.#playing = false
    this.#endSkip()
    this.#tick()
  }

  toggle(): void {
    if (this.#playing) this.pause()
    else this.play()
  }

  /** Pauses, and goes on for `STEP`. */
  step(): void {
    this.pause()
    this.#endSkip()
    this.#advance(this.time + STEP)
    this.#show(STEP / this.#inputs.speed)
    this.#tick()
  }

  /** Goes on for `SKIP` as fast as can be, playing or not: what takes longer than a frame is spread over more of them. */
  skip(): void {
    this.#skipTo = (this.#skipTo ?? this.time) + SKIP
    this.#skipOn()
    if (this.#skipTo !== undefined && this.#request === undefined) this.#await()
  }

  /** The same requests from the start. */
  restart(): void {
    this.#restarts++
    this.#endSkip()
    if (this.#playing) this.#await()
    this.#runs = runsFor(this.#inputs)
    this.#jumped()
  }

  /** Sets some of the inputs. All but the speed and the size of dots start the run again. */
  set(changed: Partial<Inputs>): void {
    const before = this.#inputs
    const inputs = { ...before, ...changed }
    const names = (Object.keys(inputs) as (keyof Inputs)[]).filter((name) => inputs[name] !== before[name])
    if (names.length === 0) return
    this.#inputs = inputs
    if (names.some((name) => name !== 'speed' && name !== 'dot')) this.restart()
    else if (names.includes('dot')) this.#redraw()
    else this.#tick()
  }

  // The same run, to the same moment, with other dots.
  #redraw(): void {
    const { time } = this
    this.#runs = runsFor(this.#inputs)
    this.#advance(time)
    this.#jumped()
  }

  #skipOn(): void {
    const to = this.#skipTo ?? this.time
    this.#advance(to, this.#frames.now() + MOST_WORK)
    if (this.over || this.time >= to) this.#skipTo = undefined
    this.#jumped()
  }

  // Nothing is awaited any more.
  #endSkip(): void {
    this.#skipTo = undefined
    if (this.#request !== undefined) this.#frames.cancel(this.#request)
    this.#request = undefined
  }

  #jumped(): void {
    for (const run of this.#runs) run.takeDots()
    this.#show(Number.POSITIVE_INFINITY)
    this.#tick()
  }

  #await(): void {
    this.#request = this.#frames.request((now) => this.#frame(now))
  }

  #frame(now: number): void {
    this.#request = undefined
    if (this.#skipTo !== undefined) {
      this.#last = now
      this.#skipOn()
      if (this.over) this.pause()
      else if (this.#skipTo !== undefined || this.#playing) this.#await()
      return
    }
    const elapsed = Math.min(now - (this.#last ?? now), LONGEST_FRAME)
    this.#last = now
    this.#advance(this.time + elapsed * this.#inputs.speed, this.#frames.now() + MOST_WORK)
    this.#show(elapsed)
    this.#sinceTick += elapsed
    if (this.over) this.pause()
    else {
      this.#await()
      if (this.#sinceTick >= BETWEEN_TICKS) this.#tick()
    }
  }

  // Run by run a slice at a time, so that they stand at the same moment whenever it stops.
  #advance(time: number, deadline = Number.POSITIVE_INFINITY): void {
    while (!this.over && this.time < time) {
      const next = Math.min(this.time + SLICE, time)
      for (const run of this.#runs) run.advanceTo(next)
      if (deadline < Number.POSITIVE_INFINITY && this.#frames.now() >= deadline) return
    }
  }

  #show(elapsed: number): void {
    for (const listener of this.#onFrame) listener(elapsed)
  }

  #tick(): void {
    this.#sinceTick = 0
    for (const listener of this.#onTick) listener()
  }
}

function runsFor(inputs: Inputs): SceneRun[] {
  const policies: (ScenePolicy | undefined)[] = [inputs.policy, inputs.second]
  return policies.flatMap((policy) => (policy === undefined ? [] : [new SceneRun(inputs, policy)]))
}
