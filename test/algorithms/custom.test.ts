import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import {
  attachBalancer,
  type CustomErrorEvent,
  type CustomPicker,
  configure,
  createBalancer,
  custom,
  leastCpu,
  NoNodesError,
  OptionError,
  select,
} from '../../dist/index.js'
import { shipped } from '../../dist/simulation/policy.js'
import { Simulation } from '../../dist/simulation/simulation.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { alike, queues } from '../simulation/support.js'
import { engines } from '../support/engines.js'
import { areUniform, countPicks } from '../support/shares.js'

const nodes = ['a', 'b', 'c', 'd']

for (const engine of engines) {
  const setUp = (picker: CustomPicker<string>, members: readonly string[] = nodes) => {
    const clock = new VirtualClock(1_000)
    const algorithm = custom(picker)
    const balancer = createBalancer({
      name: 'mine',
      nodes: members,
      algorithm,
      poll: false,
      clock,
      seed: 4,
      engine,
    })
    return { balancer, clock }
  }

  test(`${engine}: one that changes the members and picks again as it picks gets the node that it picked, or none`, (t) => {
    let change: (() => void) | undefined
    const { balancer } = setUp({
      select: ({ nodes }) => {
        const now = change
        change = undefined
        now?.()
        return nodes.at(-1)
      },
    })
    const changing = (next: () => void) => {
      change = () => {
        next()
        balancer.trySelect()
      }
    }
    changing(() => balancer.setNodes(['d', 'a']))
    t.is(balancer.select(), 'd')
    changing(() => balancer.setNodes(['a', 'b', 'c']))
    t.is(balancer.acquire().node, 'a')
    changing(() => balancer.remove('c'))
    t.throws(() => balancer.select(), { instanceOf: NoNodesError })
    changing(() => balancer.remove('b'))
    t.is(balancer.trySelect({ exclude: ['a'] }), undefined)
    changing(() => balancer.setNodes([]))
    t.is(balancer.selectIndex(), -1)
    t.is(balancer.trySelect(), undefined)
    balancer.setNodes(['a', 'b'])
    t.is(balancer.select(), 'b')
    t.deepEqual(
      balancer.snapshot().map(({ picks }) => picks >= 0),
      [true, true],
    )
  })

  test(`${engine}: an index, a node and an id are picks, in every way to pick, and count as the others do`, async (t) => {
    const picks: (number | string)[] = [2, 'b', 0]
    let turn = 0
    const { balancer } = setUp({ select: () => picks[turn++ % 3] })
    t.is(balancer.select(), 'c')
    t.is(balancer.trySelect(), 'b')
    t.is(balancer.selectIndex(), 0)
    const into = new Uint32Array(4)
    t.is(balancer.fill(into), 4)
    t.deepEqual([...into], [2, 1, 0, 2])
    const lease = balancer.acquire()
    t.is(lease.node, 'b')
    t.is(await balancer.run((node) => node), 'a')
    const { picks: counted, leases } = balancer.stats()
    t.is(counted.picks, 9)
    t.deepEqual([leases.acquired, leases.released], [2, 1])
    t.deepEqual(
      balancer.snapshot().map(({ picks, inFlight }) => [picks, inFlight]),
      [
        [3, 0],
        [3, 1],
        [3, 0],
        [0, 0],
      ],
    )
    t.is(balancer.engine, engine)
  })

  test(`${engine}: only who may be picked is a candidate: not who drains, nor who is excluded`, async (t) => {
    const seen: string[][] = []
    const { balancer } = setUp({
      select({ nodes }) {
        seen.push([...nodes])
        return nodes.length - 1
      },
    })
    await balancer.drain('b')
    t.is(balancer.select(), 'd')
    t.is(balancer.select({ exclude: ['d', 'a'] }), 'c')
    balancer.add('b')
    balancer.remove('d')
    t.is(balancer.acquire({ exclude: ['c', 'nobody'] }).node, 'b')
    t.deepEqual(seen, [['a', 'c', 'd'], ['c'], ['a', 'b']])
    t.is(balancer.trySelect({ exclude: nodes }), undefined)
    t.is(seen.length, 3)
  })

  test(`${engine}: readings are those of the moment`, (t) => {
    const { balancer, clock } = setUp({
      select: ({ reading }) => (reading(1).inFlight > reading(0).inFlight ? 0 : 1),
    })
    t.is(balancer.acquire().node, 'b')
    t.is(balancer.select(), 'a')
    let told: unknown[] = []
    let reports: unknown[] = []
    const looking = setUp({
      select({ nodes, reading, report, now }) {
        told = [now(), ...nodes.map((_, i) => reading(i)), reading(99), reading(-1)]
        reports = [report(0), report(1), report(99)]
        return 0
      },
    })
    looking.balancer.report('a', { cpu: 37.5, age: 120, qps: 12 })
    looking.balancer.acquire({ exclude: ['b', 'c', 'd'] })
    looking.clock.jump(30)
    looking.balancer.select({ exclude: ['c', 'd'] })
    const nothing = { cpu: undefined, age: undefined, inFlight: 0 }
    t.deepEqual(told, [1_030, { cpu: 37.5, age: 150, inFlight: 1 }, nothing, nothing, nothing])
    t.deepEqual(reports, [{ cpu: 37.5, qps: 12 }, {}, {}])
    t.is(clock.now(), 1_000)
  })

  test(`${engine}: an array is a choice of its elements, with what is known of them`, async (t) => {
    const { balancer } = setUp({
      select: ({ nodes, reading }) =>
        nodes.reduce((best, _, i) => ((reading(i).cpu ?? 100) < (reading(best).cpu ?? 100) ? i : best), 0),
    })
    balancer.report('b', { cpu: 10 })
    balancer.report('c', { cpu: 5 })
    const [b, c] = [{ id: 'b' }, { id: 'c' }]
    const objects = [{ id: 'x' }, b, c]
    t.is(balancer.select(objects), c)
    await balancer.drain('c')
    t.is(balancer.select(objects), b)
    t.is(balancer.trySelect(['c']), undefined)
    t.is(balancer.trySelect([]), undefined)
    t.throws(() => balancer.select([5 as never]), { code: 'IDLEST_BAD_NODE' })
    t.is(balancer.stats().picks.arrayPicks, 2)
    await balancer.close()
    t.throws(() => balancer.select(objects), { code: 'IDLEST_CLOSED' })
  })

  test(`${engine}: undefined is as though there were no node, also in the middle of a fill`, (t) => {
    let left = 2
    const { balancer } = setUp({ select: () => (left-- > 0 ? 'a' : undefined) })
    const into = new Uint32Array(5)
    t.is(balancer.fill(into), 2)
    t.is(balancer.trySelect(), undefined)
    t.throws(() => balancer.select(), { instanceOf: NoNodesError })
    t.throws(() => balancer.select(nodes), { instanceOf: NoNodesError })
    t.is(balancer.stats().picks.picks, 2)
    t.is(balancer.stats().picks.empty, 3)
  })

  test(`${engine}: what is no candidate counts, is told and warned of once, and a random one is picked`, async (t) => {
    const bad = [4, -1, 0.5, Number.NaN, 'd', 'nobody', null, {}, { id: 'd' }, true, Promise.resolve(0)]
    let turn = 0
    const name = `wild ${engine}`
    const { balancer } = setUp({ name, select: () => bad[turn++ % bad.length] as never })
    const events: CustomErrorEvent[] = []
    const listen = (event: unknown) => events.push(event as CustomErrorEvent)
    subscribe('idlest:custom:error', listen)
    const warnings: NodeJS.ErrnoException[] = []
    const hear = (warning: Error) => {
      if (warning.message.includes(name)) warnings.push(warning)
    }
    process.on('warning', hear)
    const counts = countPicks(bad.length * 600, () => balancer.select({ exclude: ['d'] }))
    unsubscribe('idlest:custom:error', listen)
    t.true(areUniform(['a', 'b', 'c'].map((node) => counts.get(node) ?? 0)))
    t.is(counts.size, 3)
    t.is(balancer.stats().picks.badPicks, bad.length * 600)
    t.is(events.length, bad.length * 600)
    t.deepEqual(events[0], { balancer: 'mine', algorithm: name, kind: 'pick', value: 4 })
    // Warnings come after what is going on.
    await setImmediate()
    process.off('warning', hear)
    t.is(warnings.length, 1)
    t.is(warnings[0]?.code, 'IDLEST_CUSTOM')
    t.regex(warnings[0]?.message ?? '', /balancer mine: the algorithm "wild \w+" picked 4/)
  })

  test(`${engine}: what select throws is passed on, and nothing was picked`, (t) => {
    const wrong = new RangeError('mine')
    let isWrong = true
    const { balancer } = setUp({
      select() {
        if (isWrong) throw wrong
        return 0
      },
    })
    for (const pick of [
      () => balancer.select(),
      () => balancer.trySelect(),
      () => balancer.select(nodes),
      () => balancer.select({ exclude: ['a'] }),
      () => balancer.acquire(),
      () => balancer.fill(new Uint32Array(2)),
    ]) {
      t.is(t.throws(pick), wrong)
    }
    const { picks, arrayPicks, empty } = balancer.stats().picks
    t.deepEqual([picks, arrayPicks, empty, balancer.stats().leases.acquired], [0, 0, 0, 0])
    isWrong = false
    t.is(balancer.select(), 'a')
  })

  test(`${engine}: each change of the members is told, the first ones after init`, async (t) => {
    const told: string[] = []
    const { balancer } = setUp(
      {
        init: ({ balancer }) => told.push(`init ${balancer}`),
        select: () => 0,
        onNodeChange: ({ kind, node }) => told.push(`${kind} ${node}`),
      },
      ['a', 'b'],
    )
    const since = () => told.splice(0)
    t.deepEqual(since(), ['init mine', 'add a', 'add b'])
    balancer.add('c')
    balancer.add('c')
    await balancer.drain('a')
    t.deepEqual(since(), ['add c', 'drain a'])
    balancer.add('a')
    balancer.setNodes(['c', 'd', 'a'])
    t.deepEqual(since(), ['up a', 'remove b', 'add d'])
    balancer.remove('d')
    balancer.add('d')
    balancer.report('a', { cpu: 5 })
    balancer.select()
    t.deepEqual(since(), ['remove d', 'add d'])
  })

  test(`${engine}: each release is told once, with what came of it`, async (t) => {
    const told: unknown[] = []
    const { balancer } = setUp({ select: () => 1, onRelease: (node, outcome) => told.push([node, outcome]) })
    const wrong = new Error('wrong')
    const lease = balancer.acquire()
    lease.release()
    lease.release()
    balancer.acquire().release({ error: wrong, kind: 'timeout', latency: 12 })
    balancer.acquire().release({ ok: false, latency: Number.NaN })
    balancer.acquire().release(5 as never)
    await t.throwsAsync(balancer.run(() => Promise.reject(wrong)))
    balancer.acquire().release({ neutral: true })
    const fine = { ok: true, error: undefined, kind: undefined, latency: undefined, neutral: false }
    t.deepEqual(told, [
      ['b', fine],
      ['b', { ...fine, ok: false, error: wrong, kind: 'timeout', latency: 12 }],
      ['b', { ...fine, ok: false }],
      ['b', { ...fine, neutral: true }],
      ['b', { ...fine, ok: false, error: wrong, latency: 0 }],
      ['b', { ...fine, neutral: true }],
    ])
  })

  test(`${engine}: a hook that throws disturbs no one: it counts and is told`, (t) => {
    const events: CustomErrorEvent[] = []
    const listen = (event: unknown) => events.push(event as CustomErrorEvent)
    const wrong = new Error('hook')
    const fail = () => {
      throw wrong
    }
    subscribe('idlest:custom:error', listen)
    const { balancer } = setUp({ select: () => 0, onNodeChange: fail, onRelease: fail })
    balancer.acquire().release()
    unsubscribe('idlest:custom:error', listen)
    t.is(balancer.stats().picks.hookErrors, 5)
    t.is(balancer.snapshot()[0]?.inFlight, 0)
    const event = { balancer: 'mine', algorithm: 'custom', error: wrong }
    t.deepEqual(events.at(-2), { ...event, kind: 'onNodeChange' })
    t.deepEqual(events.at(-1), { ...event, kind: 'onRelease' })
  })

  test(`${engine}: a hook may change the members`, (t) => {
    const made = custom<string>({
      select: ({ nodes }) => nodes.length - 1,
      onNodeChange: ({ kind, node }) => {
        if (kind === 'remove') balancer.add(`${node}'`)
      },
    })
    const balancer = createBalancer({
      nodes,
      algorithm: made,
      poll: false,
      clock: new VirtualClock(),
      engine,
    })
    balancer.remove('b')
    t.deepEqual(balancer.nodes, ['a', 'c', 'd', "b'"])
    t.is(balancer.select(), "b'")
  })

  test(`${engine}: random numbers are from the seed, the same for the same`, (t) => {
    const drawn = (seed: number) => {
      const algorithm = custom({ select: ({ nodes, random }) => Math.floor(random() * nodes.length) })
      const balancer = createBalancer({
        nodes,
        algorithm,
        poll: false,
        clock: new VirtualClock(),
        seed,
        engine,
      })
      return Array.from({ length: 4_000 }, () => balancer.select())
    }
    t.deepEqual(drawn(1), drawn(1))
    t.notDeepEqual(drawn(1), drawn(2))
    t.true(areUniform(nodes.map((node) => drawn(1).filter((pick) => pick === node).length)))
  })

  test(`${engine}: a function makes one for each balancer, and a bad one is refused then`, (t) => {
    const algorithm = custom(() => {
      let turn = 0
      return { select: ({ nodes }) => turn++ % nodes.length }
    })
    const make = () => createBalancer({ nodes, algorithm, poll: false, clock: new VirtualClock(), engine })
    t.deepEqual([make().select(), make().select()], ['a', 'a'])
    const bad = custom(() => ({}) as never)
    t.throws(() => createBalancer({ algorithm: bad, poll: false, engine }), {
      instanceOf: OptionError,
      message: /custom\.select/,
    })
    const wrong = new Error('init')
    const failing = custom({
      init() {
        throw wrong
      },
      select: () => 0,
    })
    t.is(
      t.throws(() => createBalancer({ algorithm: failing, poll: false, engine })),
      wrong,
    )
  })

  test(`${engine}: it can't be posted`, (t) => {
    const { balancer } = setUp({ select: () => 0 })
    const error = t.throws(() => balancer.handle(), { instanceOf: OptionError })
    t.regex(error.message, /posted to a thread/)
    const clock = new VirtualClock()
    const other = createBalancer({ nodes, algorithm: leastCpu(), poll: false, clock, engine })
    const handle = { ...other.handle(), algorithm: balancer.algorithm }
    t.throws(() => attachBalancer(handle, { clock }), { instanceOf: OptionError, message: /handle\(\)/ })
  })

  test(`${engine}: a simulation runs it`, (t) => {
    const algorithm = custom({
      select: ({ nodes, reading }) =>
        nodes.reduce((best, _, i) => (reading(i).inFlight < reading(best).inFlight ? i : best), 0),
    })
    const run = (policy: ReturnType<typeof shipped>) => {
      const simulation = new Simulation(queues(alike(4), 0.7, 20_000), policy, 3)
      simulation.advance()
      return simulation.result()
    }
    const result = run(shipped('mine', algorithm, { engine }))
    t.is(result.requests.completed, 20_000)
    t.is(result.engine, engine)
    const last = custom({ select: ({ nodes }) => nodes.length - 1 })
    t.true(result.response.p99 < run(shipped('last', last, { engine })).response.p99)
  })
}

test.serial('the module-level select takes one too', async (t) => {
  await configure({ algorithm: custom({ select: ({ nodes }) => nodes.length - 1 }) })
  t.is(select(['x', 'y', 'z']), 'z')
  await configure({})
})

test('what is no algorithm is refused, by the part that is wrong', (t) => {
  for (const [given, option] of [
    [undefined, 'custom'],
    [5, 'custom'],
    [[], 'custom'],
    [{}, 'custom.select'],
    [{ select: 5 }, 'custom.select'],
    [{ select: () => 0, name: '' }, 'custom.name'],
    [{ select: () => 0, init: {} }, 'custom.init'],
    [{ select: () => 0, onNodeChange: 'x' }, 'custom.onNodeChange'],
    [{ select: () => 0, onRelease: null }, 'custom.onRelease'],
  ] as const) {
    const error = t.throws(() => custom(given as never), { instanceOf: OptionError })
    t.is(error.option, option)
  }
})

test('an instance of a class is one: its methods keep their this', (t) => {
  class Turns {
    turn = 0
    select({ nodes }: { nodes: readonly unknown[] }) {
      return this.turn++ % nodes.length
    }
  }
  const balancer = createBalancer({
    nodes,
    algorithm: custom(() => new Turns()),
    poll: false,
    clock: new VirtualClock(),
  })
  t.deepEqual([balancer.select(), balancer.select(), balancer.select()], ['a', 'b', 'c'])
})
