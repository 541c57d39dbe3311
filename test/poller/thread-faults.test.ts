import test from 'ava'
import { HttpNode } from '../../dist/poller/http-node.js'
import type { FromWorker } from '../../dist/poller/protocol.js'
import { RemotePollers } from '../../dist/poller/remote-pollers.js'
import { resolveTarget } from '../../dist/poller/targets.js'
import { takeTouched, touch } from '../../dist/poller/touched.js'
import { httpTransport } from '../../dist/poller/transports/http.js'
import { processClock } from '../../dist/process-clock.js'
import { Table } from '../../dist/table/table.js'
import { idOf, reporting, serve } from './agents.js'

const next = () => new Promise((resolve) => setImmediate(resolve))

/** The polling thread's pollers on this thread, with one poller of these nodes. */
async function pollers(ids: readonly string[]) {
  const said: FromWorker[] = []
  const table = new Table(processClock)
  const all = new RemotePollers((message) => said.push(message))
  all.take({
    type: 'open',
    poller: 1,
    table: table.memory.buffer as SharedArrayBuffer,
    silentFor: 0,
    coalesce: 50,
  })
  const added = ids.map((id) => {
    const { slot, generation } = table.claim(id)
    const target = resolveTarget(id, httpTransport())
    if (target.kind === 'none' || target.kind === 'custom') throw new Error('not a node')
    return { ...target, slot, generation }
  })
  all.take({ type: 'members', poller: 1, removed: [], added })
  const round = async (number: number) => {
    all.take({
      type: 'round',
      poller: 1,
      round: number,
      deadline: processClock.now() + 10_000,
      timeout: 10_000,
    })
    while (!said.some((message) => message.type === 'done' && message.round === number)) await next()
    const done = said.find((message) => message.type === 'done' && message.round === number)
    return done?.type === 'done' ? done.tally : undefined
  }
  return { all, said, round }
}

test.serial(
  'an exception that nobody caught leaves out the node whose bytes were read last, and no other',
  async (t) => {
    const [a, b] = [await serve(t, reporting(10)), await serve(t, reporting(20))]
    const touched: object[] = []
    const ask = HttpNode.prototype.ask
    HttpNode.prototype.ask = function (this: HttpNode) {
      touched.push(this)
      return ask.call(this)
    }
    t.teardown(() => {
      HttpNode.prototype.ask = ask
    })
    const { all, said, round } = await pollers([idOf(a), idOf(b)])
    t.teardown(() => all.close())
    t.is((await round(1))?.stored, 2)
    touch(touched[0] as object)
    all.caught(new Error('a bug in a library'))
    const tally = await round(2)
    t.is(tally?.failed.length, 1)
    t.regex(tally?.failed[0]?.reason ?? '', /could not be handled \(a bug in a library\)/)
    t.is((tally?.stored ?? 0) + (tally?.older ?? 0), 1)
    t.is(said.filter(({ type }) => type === 'fault').length, 0)
    const aside = said.find((message) => message.type === 'aside')
    t.is(aside?.type === 'aside' ? aside.aside.quarantined : 0, 1)
  },
)

test.serial('one that can’t be put down to a node is said, and all are asked on', async (t) => {
  const a = await serve(t, reporting(10))
  const { all, said, round } = await pollers([idOf(a)])
  t.teardown(() => all.close())
  await round(1)
  await next()
  await next()
  all.caught(new Error('out of the blue'))
  t.deepEqual(
    said.filter(({ type }) => type === 'fault'),
    [{ type: 'fault', reason: 'out of the blue' }],
  )
  t.deepEqual((await round(2))?.failed, [])
})

test.serial('what a member was touched for is forgotten with the turn of the event loop', async (t) => {
  const member = {}
  touch(member)
  t.is(takeTouched(), member)
  t.is(takeTouched(), undefined)
  touch(member)
  await next()
  t.is(takeTouched(), undefined)
})
