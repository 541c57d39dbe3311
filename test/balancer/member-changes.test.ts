import { BroadcastChannel } from 'node:worker_threads'
import test from 'ava'
import fc from 'fast-check'
import { changeBetween, JOINED } from '../../dist/balancer/member-changes.js'
import { attachBalancer, createBalancer, roundRobin } from '../../dist/index.js'

function apply<T>(
  before: readonly T[],
  after: readonly T[],
  runs: Uint32Array,
  joined: readonly number[],
): T[] {
  const result: T[] = []
  let next = 0
  for (let i = 0; i < runs.length; i += 2) {
    const [from, count] = [runs[i] as number, runs[i + 1] as number]
    if (from === JOINED) for (let j = 0; j < count; j++) result.push(after[joined[next++] as number] as T)
    else result.push(...before.slice(from, from + count))
  }
  return result
}

test('a change makes the one list of members of the other', (t) => {
  const places = Array.from({ length: 12 }, (_, slot) => ({ id: `n${slot}`, slot, generation: 0 }))
  const list = fc.shuffledSubarray(places)
  fc.assert(
    fc.property(list, list, (before, after) => {
      const change = changeBetween(before, after)
      const same = before.length === after.length && before.every((place, i) => place === after[i])
      t.is(change === undefined, same)
      if (change !== undefined) t.deepEqual(apply(before, after, change.runs, change.joined), after)
    }),
  )
})

test('an attached thread has the same members in the same order after any changes', async (t) => {
  const ids = Array.from({ length: 8 }, (_, i) => `n${i}`)
  const act = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), list: fc.shuffledSubarray(ids) }),
    fc.record({ kind: fc.constant('add' as const), id: fc.constantFrom(...ids) }),
    fc.record({ kind: fc.constant('remove' as const), id: fc.constantFrom(...ids) }),
    fc.record({ kind: fc.constant('drain' as const), id: fc.constantFrom(...ids) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 20 }), fc.nat(20), async (acts, at) => {
      const balancer = createBalancer({ nodes: ids.slice(0, 3), algorithm: roundRobin(), poll: false })
      // Posted now, and attached to after some changes.
      const early = balancer.handle()
      let attached = at === 0 ? attachBalancer(early) : undefined
      for (const [i, act] of acts.entries()) {
        if (act.kind === 'set') balancer.setNodes(act.list)
        else if (act.kind === 'add') balancer.add(act.id)
        else if (act.kind === 'remove') balancer.remove(act.id)
        else if (balancer.nodes.includes(act.id)) void balancer.drain(act.id)
        if (i === at) attached = attachBalancer(early)
        if (i % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      attached ??= attachBalancer(early)
      const seen = (one: typeof balancer | typeof attached) =>
        one?.snapshot().map(({ id, state }) => [id, state])
      for (let turn = 0; turn < 20; turn++) {
        if (JSON.stringify(seen(attached)) === JSON.stringify(seen(balancer))) break
        await new Promise((resolve) => setImmediate(resolve))
      }
      t.deepEqual(seen(attached), seen(balancer))
      attached.close()
      await balancer.close()
    }),
    { numRuns: 60 },
  )
})

test('other threads are told what changed of the members, not all of them', async (t) => {
  const nodes = Array.from({ length: 1_000 }, (_, i) => `n${i}`)
  const balancer = createBalancer({ nodes, poll: false })
  const { channel } = balancer.handle()
  const told: { kind: string; runs: Uint32Array; joined: { places: unknown[] } }[] = []
  const listening = new BroadcastChannel(channel)
  const came = new Promise<void>((resolve) => {
    listening.onmessage = (event) => {
      told.push((event as { data: (typeof told)[0] }).data)
      if (told.length === 2) resolve()
    }
  })
  balancer.add('one more')
  await new Promise((resolve) => setImmediate(resolve))
  balancer.remove('n500')
  await came
  t.deepEqual(
    told.map(({ kind, runs, joined }) => [kind, [...runs], joined.places.length]),
    [
      ['change', [0, 1_000, JOINED, 1], 1],
      ['change', [0, 500, 501, 500], 0],
    ],
  )
  listening.close()
  await balancer.close()
})
