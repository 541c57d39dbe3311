// What a response, or a request that stays open, says of its node: in virtual time, at real servers' rates.
import test from 'ava'
import { Generator } from '../../dist/engine/portable/generator.js'
import { adaptive, createBalancer, type Lease, type Report } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { engines } from '../support/engines.js'

/** A clock that can go on without its timers, as where a process stands still. */
class StoppableClock extends VirtualClock {
  #stopped = 0

  override now(): number {
    return super.now() + this.#stopped
  }

  stop(ms: number): void {
    this.#stopped += ms
  }
}

/** Nodes that answer after a time, and one client that sends at random. */
class Traffic {
  readonly clock = new StoppableClock(1_000)
  readonly balancer
  readonly #random = new Generator([7, 11])

  constructor(nodes: readonly string[], engine: 'native' | 'portable', ejects = true) {
    const options = { algorithm: adaptive(), poll: false, seed: 3, engine } as const
    const health = ejects ? undefined : false
    this.balancer = createBalancer({ nodes, clock: this.clock, health, ...options })
  }

  /** An exponential time of mean 1. */
  exponential(): number {
    return -Math.log((this.#random.next() + 0.5) / 2 ** 32)
  }

  /** Sends so many requests a second, for so many seconds. Returns each node's share of an equal one. */
  async send(
    rate: number,
    seconds: number,
    serve: (node: string) => number = () => 10 * this.exponential(),
    ok: (node: string) => boolean = () => true,
  ): Promise<Record<string, number>> {
    const { balancer, clock } = this
    const { nodes } = balancer
    const counts = Object.fromEntries(nodes.map((node) => [node, 0]))
    const end = clock.now() + 1_000 * seconds
    let total = 0
    while (clock.now() < end) {
      await clock.advance((1_000 / rate) * this.exponential())
      const lease = balancer.acquire()
      counts[lease.node] = (counts[lease.node] ?? 0) + 1
      total++
      clock.setTimeout(() => lease.release({ ok: ok(lease.node) }), serve(lease.node))
    }
    return Object.fromEntries(nodes.map((node) => [node, ((counts[node] ?? 0) / total) * nodes.length]))
  }

  report(report: (node: string) => Report): void {
    for (const node of this.balancer.nodes) this.balancer.report(node, report(node))
  }
}

const least = (shares: Record<string, number>) => Math.min(...Object.values(shares))
const most = (shares: Record<string, number>) => Math.max(...Object.values(shares))
const shown = (shares: Record<string, number>) => JSON.stringify(shares)

const four = ['a', 'b', 'c', 'd']

for (const engine of engines) {
  for (const [latency, nodes, at] of [
    [100, ['a', 'b'], ['a']],
    [1_000, four, ['a']],
    [10_000, four, ['a', 'b', 'c']],
    [3_600_000, [...four, 'e', 'f', 'g', 'h'], ['b', 'f']],
  ] as const) {
    test(`${engine}: a response of ${latency} ms at ${at.length} of ${nodes.length} equal nodes starves nobody`, async (t) => {
      const traffic = new Traffic(nodes, engine)
      await traffic.send(50 * nodes.length, 20)
      for (const node of at) traffic.balancer.lease(node).release({ ok: true, latency })
      await traffic.send(50 * nodes.length, 5)
      const shares = await traffic.send(50 * nodes.length, 5)
      t.true(least(shares) >= 0.5, shown(shares))
    })
  }

  test(`${engine}: a long poll that is always open takes nothing from its node`, async (t) => {
    const traffic = new Traffic(four, engine)
    await traffic.send(200, 10)
    for (let poll = 0; poll < 3; poll++) {
      const lease = traffic.balancer.lease('a')
      await traffic.send(200, 5)
      const shares = await traffic.send(200, 5)
      t.true(least(shares) >= 0.5 && most(shares) <= 1.6, shown(shares))
      lease.release({ ok: true })
    }
    const shares = await traffic.send(200, 5)
    t.true(least(shares) >= 0.5 && most(shares) <= 1.6, shown(shares))
  })

  test(`${engine}: a node that does not answer at all counts as busy`, async (t) => {
    const traffic = new Traffic(four, engine)
    await traffic.send(200, 10)
    const stuck: Lease[] = []
    for (let second = 0; second < 20; second++) {
      const open: Lease[] = []
      await traffic.send(200, 1, (node) => (node === 'a' ? 1e9 : 10))
      stuck.push(...open)
    }
    const shares = await traffic.send(200, 5, (node) => (node === 'a' ? 1e9 : 10))
    t.true((shares.a ?? 1) < 0.05, shown(shares))
  })

  for (const stall of [150, 3_000, 3_600_000]) {
    test(`${engine}: no node is blamed for ${stall} ms in which this process stood still`, async (t) => {
      const traffic = new Traffic(four, engine)
      const { balancer, clock } = traffic
      await traffic.send(400, 20, () => 10)
      const open = ['a', 'a', 'a', 'a', 'a', 'a', 'b'].map((node) => balancer.lease(node))
      clock.stop(stall)
      // The first as where its response is handled before any timer, the last as where time-outs fire at once.
      for (const lease of open.slice(0, 1)) lease.release()
      await clock.advance(100)
      for (const lease of open.slice(1)) lease.release({ ok: false, kind: 'timeout' })
      t.is(balancer.stats().leases.paused, 6)
      t.is(balancer.stats().leases.failed, 0)
      t.false(balancer.snapshot().some(({ ejected }) => ejected))
      await traffic.send(400, 5, () => 10)
      const shares = await traffic.send(400, 5, () => 10)
      t.true(least(shares) >= 0.5, shown(shares))
    })
  }

  for (const [nodes, rate, warmUp] of [
    [2, 30, 90],
    [8, 60, 90],
    [8, 160, 40],
    [8, 400, 20],
  ] as const) {
    test(`${engine}: ${rate} requests a second are shared out evenly among ${nodes} equal nodes`, async (t) => {
      const names = Array.from({ length: nodes }, (_, i) => `n${i}`)
      for (const serve of [undefined, () => 10, () => 0.2]) {
        const traffic = new Traffic(names, engine)
        await traffic.send(rate, warmUp, serve)
        for (let window = 0; window < 10; window++) {
          const shares = await traffic.send(rate, Math.max(5, (25 * nodes) / rate), serve)
          t.true(most(shares) <= 1.4, shown(shares))
        }
      }
    })
  }

  test(`${engine}: where all answer alike, one that reports 99 % CPU gets at most half its share`, async (t) => {
    const traffic = new Traffic(['a', 'b', 'c'], engine)
    let busy = 0
    for (let second = 0; second < 60; second++) {
      traffic.report((node) => ({ cpu: node === 'a' ? 99 : 5 }))
      const shares = await traffic.send(100, 1)
      if (second >= 20) busy += (shares.a ?? 1) / 40
    }
    t.true(busy <= 0.5, String(busy))
  })

  test(`${engine}: at a low load, nodes that report no CPU to speak of are used evenly from the first second`, async (t) => {
    const names = Array.from({ length: 8 }, (_, i) => `n${i}`)
    const traffic = new Traffic(names, engine)
    for (let second = 0; second < 20; second++) {
      traffic.report(() => ({ cpu: 5 }))
      const shares = await traffic.send(80, 1)
      t.true(most(shares) <= 2.5, shown(shares))
    }
    traffic.report(() => ({ cpu: 5 }))
    const shares = await traffic.send(80, 5)
    t.true(most(shares) <= 1.4, shown(shares))
  })

  test(`${engine}: a node that refuses at once gets at most half its share`, async (t) => {
    const traffic = new Traffic(four, engine)
    await traffic.send(100, 5)
    const serve = (node: string) => (node === 'a' ? 1 : 20)
    const shares = await traffic.send(100, 5, serve, (node) => node !== 'a')
    t.true((shares.a ?? 1) <= 0.5, shown(shares))
  })

  test(`${engine}: errors that all nodes return alike make none dearer than the others`, async (t) => {
    const traffic = new Traffic(four, engine, false)
    await traffic.send(100, 40)
    await traffic.send(
      100,
      10,
      () => 1,
      () => false,
    )
    const costs = traffic.balancer.snapshot().map(({ cost }) => cost ?? 0)
    t.true(Math.max(...costs) <= 1.3 * Math.min(...costs), String(costs))
  })

  test(`${engine}: after a total outage every node is used again`, async (t) => {
    const traffic = new Traffic(
      Array.from({ length: 10 }, (_, i) => `n${i}`),
      engine,
    )
    await traffic.send(500, 10)
    await traffic.send(
      500,
      20,
      () => 1,
      () => false,
    )
    await traffic.send(500, 5)
    const shares = await traffic.send(500, 5)
    t.true(least(shares) >= 0.5, shown(shares))
  })

  test(`${engine}: a node whose first connection is slow is not passed over afterwards`, async (t) => {
    const traffic = new Traffic(four, engine)
    const first = new Set(four)
    const serve = (node: string) => (first.delete(node) ? 150 : 10)
    await traffic.send(100, 10, serve)
    const shares = await traffic.send(100, 5, serve)
    t.true(least(shares) >= 0.5 && most(shares) <= 1.6, shown(shares))
  })

  test(`${engine}: a node that gets nothing is tried again after 32 picks for each`, async (t) => {
    const traffic = new Traffic(['a', 'b'], engine)
    const slow = (node: string) => (node === 'a' ? 80 : 1)
    await traffic.send(20, 60, slow)
    const shares = await traffic.send(20, 30, slow)
    t.true((shares.a ?? 0) > 0, shown(shares))
  })
}
