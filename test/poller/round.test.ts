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
