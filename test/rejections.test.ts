import test, { type ExecutionContext } from 'ava'
import { createAgent } from '../dist/agent/index.js'
import { type CustomPicker, createBalancer, custom, httpTransport } from '../dist/index.js'
import { resolveHttp } from '../dist/poller/transports/http.js'

/** Fails where a promise of a callback's rejects and nobody catches it: that would end the process. */
async function nothingEscapes(t: ExecutionContext, act: () => unknown): Promise<void> {
  const escaped: unknown[] = []
  const listener = (reason: unknown) => escaped.push(reason)
  process.on('unhandledRejection', listener)
  try {
    await act()
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
  } finally {
    process.off('unhandledRejection', listener)
  }
  t.deepEqual(escaped, [])
}

const rejects = async () => {
  throw new Error('late')
}
// As plain JavaScript may have it.
const picker = (hooks: object) => custom({ select: () => 0, ...hooks } as CustomPicker)

test.serial('a hook of a custom algorithm that is async and rejects counts as one that throws', async (t) => {
  await nothingEscapes(t, async () => {
    const algorithm = picker({ onNodeChange: rejects, onRelease: rejects })
    await using balancer = createBalancer({ nodes: ['a', 'b'], algorithm, poll: false })
    balancer.acquire().release()
    await new Promise((resolve) => setImmediate(resolve))
    t.is(balancer.stats().picks.hookErrors, 3)
  })
})

test.serial('a select that is async counts as a bad pick, also where it rejects', async (t) => {
  await nothingEscapes(t, async () => {
    await using balancer = createBalancer({
      nodes: ['a'],
      algorithm: picker({ select: rejects }),
      poll: false,
    })
    t.is(balancer.select(), 'a')
    t.is(balancer.stats().picks.badPicks, 1)
  })
})

test.serial('an init that is async, and a maker of pickers, are refused', async (t) => {
  await nothingEscapes(t, () => {
    const algorithm = picker({ init: rejects })
    t.throws(() => createBalancer({ nodes: [], algorithm, poll: false }), {
      message: /custom.init .*not async/,
    })
    const made = custom(rejects as never)
    t.throws(() => createBalancer({ nodes: [], algorithm: made, poll: false }), { code: 'IDLEST_BAD_OPTION' })
  })
})

test.serial('a metric of an agent that is async is left out and counted', async (t) => {
  await nothingEscapes(t, async () => {
    await using agent = await createAgent({ sampler: () => 1, sampleInterval: 1 })
    agent.set('queue', rejects as never)
    while (agent.counters.named.bad === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    t.deepEqual(agent.report()?.named ?? {}, {})
  })
})

test.serial('options of a node that come as a promise fail that node alone', async (t) => {
  await nothingEscapes(t, async () => {
    t.throws(() => resolveHttp('a', httpTransport({ node: rejects as never }).settings), {
      code: 'IDLEST_BAD_OPTION',
    })
    const transport = rejects as never
    await using balancer = createBalancer({ nodes: ['a'], poll: { transport, interval: 10 } })
    await balancer.ready()
    t.is(balancer.stats().poll?.error, 1)
  })
})

test('types refuse callbacks that are async', (t) => {
  custom({
    select: () => 0,
    // @ts-expect-error: nobody waits for it
    onRelease: rejects,
    // @ts-expect-error: nobody waits for it
    onNodeChange: rejects,
    // @ts-expect-error: nobody waits for it
    init: rejects,
  })
  const seen: string[] = []
  custom({ select: () => 0, onRelease: () => seen.push('released'), onNodeChange() {} })
  t.pass()
})
