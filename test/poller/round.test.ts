import test from 'ava'
import type { Answer } from '../../dist/poller/answer.js'
import { Round } from '../../dist/poller/round.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { withResolvers } from './agents.js'

function member(id: string) {
  const { promise, resolve } = withResolvers<Answer>()
  const cancelled: string[] = []
  return {
    id,
    answer: resolve,
    cancelled,
    ask: () => promise,
    cancel: (reason: string) => cancelled.push(reason),
  }
}

const report = { kind: 'report', report: { cpu: 1 }, at: 0 } as const

test('answers that wait behind the time-out are taken in before the round gives up', async (t) => {
  const clock = new VirtualClock()
  const [waiting, silent] = [member('waiting'), member('silent')]
  const calls: (() => void)[] = []
  const round = new Round([waiting, silent], {
    clock,
    timeout: 100,
    store: () => 'stored',
    onLate: () => {},
    lastCall: (run) => calls.push(run),
  })
  clock.jump(100)
  waiting.answer(report)
  await clock.advance(0)
  for (const call of calls) call()
  const { stored, failed } = await round.done
  t.is(stored, 1)
  t.deepEqual(failed, [{ node: 'silent', kind: 'exit', reason: 'no answer within 100 ms' }])
  t.deepEqual([waiting.cancelled, silent.cancelled], [[], ['no answer within 100 ms']])
})

test('a member whose report can’t be stored fails with error, alone', async (t) => {
  const [wrong, right] = [member('wrong'), member('right')]
  const round = new Round([wrong, right], {
    clock: new VirtualClock(),
    timeout: 100,
    store: ({ id }) => {
      if (id === 'wrong') throw new Error('no room')
      return 'older'
    },
    onLate: () => {},
  })
  wrong.answer(report)
  right.answer(report)
  t.like(await round.done, { older: 1, failed: [{ node: 'wrong', kind: 'error', reason: 'no room' }] })
})

test('a round that was aborted counts nobody as failed and leaves no timer', async (t) => {
  const clock = new VirtualClock()
  const silent = member('silent')
  const round = new Round([silent], { clock, timeout: 100, store: () => 'stored', onLate: () => {} })
  round.abort('closed')
  t.like(await round.done, { asked: 1, failed: [] })
  t.deepEqual(silent.cancelled, ['closed'])
  t.is(clock.pending, 0)
})

// So many silent members, asked in waves that go on when the test says so.
function inWaves(count: number) {
  const clock = new VirtualClock()
  const members = Array.from({ length: count }, (_, i) => member(`${i}`))
  const asked: string[] = []
  const turns: (() => void)[] = []
  const round = new Round(
    members.map((one) => ({
      ...one,
      ask: () => {
        asked.push(one.id)
        return one.ask()
      },
    })),
    {
      clock,
      timeout: 100,
      store: () => 'stored',
      onLate: () => {},
      betweenWaves: (run) => turns.push(run),
    },
  )
  const turn = () => {
    for (const run of turns.splice(0)) run()
  }
  return { clock, members, asked, turns, round, turn }
}

test('in waves, members are asked 64 a turn, each once, in their order', async (t) => {
  const { members, asked, turns, round, turn } = inWaves(150)
  const sizes: number[] = []
  for (; turns.length > 0; turn()) sizes.push(asked.length)
  t.deepEqual([...sizes, asked.length], [64, 128, 150])
  t.deepEqual(
    asked,
    members.map(({ id }) => id),
  )
  for (const { answer } of members) answer(report)
  t.like(await round.done, { asked: 150, stored: 150, failed: [] })
})

test('a round whose time is over asks nobody else; those who were not asked have failed too', async (t) => {
  const { clock, asked, round, turn } = inWaves(150)
  clock.jump(100)
  turn()
  t.is(asked.length, 64)
  t.is((await round.done).failed.length, 150)
})

test('in waves, the end of the round is told before connections are closed', async (t) => {
  const { clock, members, round, turn } = inWaves(3)
  clock.jump(100)
  t.is((await round.done).failed.length, 3)
  t.true(members.every(({ cancelled }) => cancelled.length === 0))
  turn()
  t.true(members.every(({ cancelled }) => cancelled.length === 1))
})

test('a round that was aborted between two waves asks nobody else', async (t) => {
  const { asked, round, turn } = inWaves(150)
  round.abort('closed')
  turn()
  t.is(asked.length, 64)
  t.like(await round.done, { failed: [] })
})
