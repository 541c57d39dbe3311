import test from 'ava'
import { DEFAULTS, type Inputs, RUN_LENGTH } from '../../dist/scene/model/inputs.js'
import { BETWEEN_TICKS, Player, SKIP, STEP } from '../../dist/scene/model/player.js'

/** Frames that come when they are told to. */
class FrameByFrame {
  time = 1_000
  /** ms that pass whenever somebody looks at the clock. */
  perLook = 0
  #waiting = new Map<number, (now: number) => void>()
  #requests = 0

  get waiting(): number {
    return this.#waiting.size
  }

  request(callback: (now: number) => void): number {
    this.#waiting.set(++this.#requests, callback)
    return this.#requests
  }

  cancel(request: number): void {
    this.#waiting.delete(request)
  }

  now(): number {
    this.time += this.perLook
    return this.time
  }

  pass(ms: number): void {
    this.time += ms
    const due = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const callback of due) callback(this.time)
  }
}

function playerOf(inputs: Partial<Inputs> = {}) {
  const frames = new FrameByFrame()
  const player = new Player({ ...DEFAULTS, ...inputs }, frames)
  return { frames, player }
}

test('played, virtual time passes with the frames, times the speed', (t) => {
  const { frames, player } = playerOf({ speed: 2 })
  player.play()
  frames.pass(16)
  t.is(player.time, 0)
  for (let i = 0; i < 10; i++) frames.pass(16)
  t.is(player.time, 320)
  player.set({ speed: 0.5 })
  frames.pass(16)
  t.is(player.time, 328)
  t.is(player.restarts, 0)
})

test('paused, it asks for no frames and time stands still', (t) => {
  const { frames, player } = playerOf()
  player.play()
  frames.pass(16)
  frames.pass(16)
  player.pause()
  t.is(frames.waiting, 0)
  frames.pass(1_000)
  t.is(player.time, 16)
  player.toggle()
  frames.pass(16)
  t.is(player.time, 16)
  frames.pass(16)
  t.is(player.time, 32)
})

test('a page that was hidden goes on where it was: a long frame counts as a short one', (t) => {
  const { frames, player } = playerOf()
  player.play()
  frames.pass(16)
  frames.pass(60_000)
  t.is(player.time, 100)
})

test('runs that take too long fall behind, both alike', (t) => {
  const { frames, player } = playerOf({ second: 'adaptive', speed: 20 })
  player.play()
  frames.pass(16)
  frames.perLook = 4
  frames.pass(50)
  t.true(player.time > 0 && player.time < 1_000)
  t.is(player.runs[0]?.time, player.runs[1]?.time)
})

test('a step pauses and goes on for its time; a skip goes on and plays on', (t) => {
  const { frames, player } = playerOf()
  const shown: number[] = []
  player.onFrame((elapsed) => shown.push(elapsed))
  player.play()
  player.step()
  t.false(player.playing)
  t.is(player.time, STEP)
  player.play()
  player.skip()
  t.true(player.playing)
  t.is(player.time, STEP + SKIP)
  t.deepEqual(shown, [STEP, Number.POSITIVE_INFINITY])
  t.deepEqual(player.runs[0]?.takeDots(), [])
  frames.pass(16)
  frames.pass(16)
  t.true(player.time > STEP + SKIP)
})

test('a skip that takes long is spread over frames, and shows what is in between', (t) => {
  const { frames, player } = playerOf({ second: 'adaptive' })
  const shown: number[] = []
  player.onFrame(() => shown.push(player.time))
  frames.perLook = 0.01
  player.skip()
  t.true(player.time < SKIP)
  t.true(player.skipping)
  t.is(frames.waiting, 1)
  for (let i = 0; i < 1_000 && frames.waiting > 0; i++) frames.pass(16)
  t.is(player.time, SKIP)
  t.false(player.skipping)
  t.false(player.playing)
  t.true(shown.length > 2)
  t.deepEqual(
    shown,
    [...new Set(shown)].sort((a, b) => a - b),
  )
  t.is(player.runs[0]?.digest(), player.runs[1]?.digest())
})

test('within a skip another goes on from there, a pause stops it, and a restart forgets it', (t) => {
  const { frames, player } = playerOf()
  frames.perLook = 0.01
  player.skip()
  player.skip()
  for (let i = 0; i < 1_000 && frames.waiting > 0; i++) frames.pass(16)
  t.is(player.time, 2 * SKIP)
  player.play()
  player.skip()
  t.is(frames.waiting, 1)
  player.pause()
  t.is(frames.waiting, 0)
  t.true(player.time < 3 * SKIP)
  player.skip()
  player.restart()
  t.is(frames.waiting, 0)
  t.is(player.time, 0)
  player.skip()
  player.play()
  t.is(frames.waiting, 1)
  while (player.time < SKIP) frames.pass(16)
  t.true(player.playing)
  t.is(frames.waiting, 1)
})

test('another policy starts again, with the same requests', (t) => {
  const { player } = playerOf()
  player.skip()
  const [before] = player.runs
  player.set({ policy: 'adaptive' })
  t.is(player.time, 0)
  t.is(player.restarts, 1)
  player.skip()
  t.is(player.runs[0]?.policy, 'adaptive')
  t.is(player.runs[0]?.digest(), before?.digest())
  t.not(player.runs[0]?.p99, before?.p99)
})

test('two runs stand at the same moment of the same requests', (t) => {
  const { player } = playerOf({ second: 'round-robin' })
  player.skip()
  const [first, second] = player.runs
  t.is(first?.time, second?.time)
  t.is(first?.digest(), second?.digest())
  t.deepEqual(
    player.runs.map(({ policy }) => policy),
    ['least-loaded', 'round-robin'],
  )
})

test('what changes the run starts it again; dots of another size do not, and what is as it was changes nothing', (t) => {
  const { player } = playerOf()
  player.skip()
  const sent = player.runs[0]?.sentTotal
  let ticks = 0
  player.onTick(() => ticks++)
  player.set({ traffic: 1, policy: 'least-loaded' })
  t.is(ticks, 0)
  player.set({ dot: 10 })
  t.is(player.time, SKIP)
  t.is(player.runs[0]?.sentTotal, sent)
  t.is(player.restarts, 0)
  t.is(ticks, 1)
  player.set({ traffic: 0.5 })
  t.is(player.time, 0)
  t.is(player.restarts, 1)
})

test('at the end of the run it pauses, and only a restart plays it again', (t) => {
  const { player } = playerOf({ traffic: 0.1 })
  for (let time = 0; time < RUN_LENGTH; time += SKIP) player.skip()
  t.true(player.over)
  t.is(player.time, RUN_LENGTH)
  player.play()
  t.false(player.playing)
  player.restart()
  player.play()
  t.true(player.playing)
})

test('those who show figures are told a few times a second, those who draw at every frame', (t) => {
  const { frames, player } = playerOf()
  let ticks = 0
  let drawn = 0
  player.play()
  const stops = [player.onTick(() => ticks++), player.onFrame(() => drawn++)]
  for (let i = 0; i <= 100; i++) frames.pass(10)
  t.is(drawn, 101)
  t.is(ticks, 1_000 / BETWEEN_TICKS)
  for (const stop of stops) stop()
  frames.pass(1_000)
  t.is(drawn, 101)
})
