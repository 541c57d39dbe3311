import * as grpc from '@grpc/grpc-js'
import test, { type ExecutionContext } from 'ava'
import { connect, connected, serve, type TestChannel, until } from './fleet.js'

// One after the other: what is registered is registered for all.

const POLICIES = ['idlest_weighted_round_robin', 'idlest_adaptive'] as const

const inFlight = ({ balancer }: TestChannel) =>
  balancer()
    .snapshot()
    .map((member) => member.inFlight)

async function twoServers(t: ExecutionContext, policy: (typeof POLICIES)[number]) {
  const servers = [await serve(t), await serve(t)] as const
  const held: (() => void)[] = []
  for (const server of servers) {
    server.answer = (_call, done) => held.push(() => done(null, Buffer.from('late')))
  }
  const channel = connect(t, policy, {}, servers)
  await connected(channel, 2)
  const release = () => {
    for (const done of held.splice(0)) done()
  }
  return { servers, channel, held, release }
}

for (const policy of POLICIES) {
  test.serial(`${policy}: calls count as in flight from the pick to their status`, async (t) => {
    const { channel, held, release } = await twoServers(t, policy)
    const calls = Array.from({ length: 10 }, () => channel.call())
    await until(() => held.length === 10)
    t.deepEqual(inFlight(channel), [5, 5])
    release()
    const statuses = await Promise.all(calls)
    t.true(statuses.every(({ code }) => code === grpc.status.OK))
    t.deepEqual(inFlight(channel), [0, 0])
    t.like(channel.balancer().stats().leases, {
      acquired: 10,
      released: 10,
      failed: 0,
      neutral: 0,
      releasedTwice: 0,
    })
    t.true(
      channel
        .balancer()
        .snapshot()
        .every(({ latency = 0 }) => latency > 0),
    )
  })
}

test.serial('adaptive: calls made at once go to all nodes', async (t) => {
  const { channel, held, servers, release } = await twoServers(t, 'idlest_adaptive')
  const calls = Array.from({ length: 40 }, () => channel.call())
  await until(() => held.length === 40)
  t.deepEqual(
    servers.map((server) => server.calls),
    [20, 20],
  )
  release()
  await Promise.all(calls)
})

test.serial('adaptive: a node that holds its calls gets no more than the other answers', async (t) => {
  const servers = [await serve(t), await serve(t)] as const
  const held: (() => void)[] = []
  const channel = connect(t, 'idlest_adaptive', {}, servers)
  await connected(channel, 2)
  // So that it knows how long answers take here.
  await channel.count(servers, 100)
  channel.clock.jump(1_000)
  servers[0].answer = (_call, done) => held.push(() => done(null, Buffer.from('late')))
  const calls: Promise<unknown>[] = []
  for (let i = 0; i < 100; i++) {
    const before = held.length
    let isAnswered = false
    const call = channel.call().then(() => {
      isAnswered = true
    })
    calls.push(call)
    await until(() => isAnswered || held.length > before)
  }
  t.true(held.length < 25, `${held.length}`)
  for (const done of held) done()
  await Promise.all(calls)
})

test.serial(
  'what a call came to is told: answers, failures, and nothing of one that its caller cancelled',
  async (t) => {
    const server = await serve(t)
    const channel = connect(t, 'idlest_adaptive', {}, [server], { balancer: { health: false } })
    await connected(channel, 1)
    const { status } = grpc
    const failures = [
      status.UNKNOWN,
      status.DEADLINE_EXCEEDED,
      status.RESOURCE_EXHAUSTED,
      status.UNIMPLEMENTED,
      status.INTERNAL,
      status.UNAVAILABLE,
      status.DATA_LOSS,
    ]
    const answers = [
      status.INVALID_ARGUMENT,
      status.NOT_FOUND,
      status.ALREADY_EXISTS,
      status.PERMISSION_DENIED,
      status.FAILED_PRECONDITION,
      status.ABORTED,
      status.OUT_OF_RANGE,
      status.UNAUTHENTICATED,
    ]
    for (const code of [...failures, ...answers]) {
      server.answer = (_call, done) => done({ code, details: 'as the test says' })
      t.is((await channel.call()).code, code)
    }
    const leases = () => channel.balancer().stats().leases
    t.like(leases(), { released: 15, failed: failures.length, neutral: 0 })
    let began = false
    server.answer = () => {
      began = true
    }
    const asIs = (bytes: Buffer) => bytes
    const call = channel.client.makeUnaryRequest(
      '/test.Service/Answer',
      asIs,
      asIs,
      Buffer.from('ask'),
      () => {},
    )
    await until(() => began)
    t.deepEqual(inFlight(channel), [1])
    call.cancel()
    await until(() => leases().released === 16)
    t.like(leases(), { failed: failures.length, neutral: 1 })
    t.deepEqual(inFlight(channel), [0])
  },
)

test.serial(
  'a call that waits for its credentials counts once it begins; one that is given up meanwhile does not',
  async (t) => {
    const { channel, held, release } = await twoServers(t, 'idlest_adaptive')
    const waiting: (() => void)[] = []
    const credentials = grpc.credentials.createFromMetadataGenerator((_options, done) => {
      waiting.push(() => done(null, new grpc.Metadata()))
    })
    const call = channel.call({ credentials })
    const givenUp = channel.call({ credentials, deadline: Date.now() + 100 })
    await until(() => waiting.length === 2)
    t.is((await givenUp).code, grpc.status.DEADLINE_EXCEEDED)
    t.deepEqual(inFlight(channel), [0, 0])
    for (const go of waiting) go()
    await until(() => held.length === 1)
    t.deepEqual(inFlight(channel).sort(), [0, 1])
    release()
    t.is((await call).code, grpc.status.OK)
    t.deepEqual(inFlight(channel), [0, 0])
    t.like(channel.balancer().stats().leases, { acquired: 3, released: 3, neutral: 2, failed: 0 })
  },
)

test.serial(
  'a channel that is closed with calls in flight ends its balancer, and they end as they end',
  async (t) => {
    const { channel, held, release } = await twoServers(t, 'idlest_adaptive')
    const call = channel.call()
    await until(() => held.length === 1)
    channel.client.close()
    t.throws(() => channel.balancer().select(), { code: 'IDLEST_CLOSED' })
    release()
    t.is((await call).code, grpc.status.OK)
    t.is(channel.balancer().stats().leases.released, 1)
  },
)

test.serial(
  'of the reports that a node sends one is read as often as they are published, and the last at the end',
  async (t) => {
    const server = await serve(t, { qps: 1 })
    const channel = connect(t, 'idlest_adaptive', {}, [server], { balancer: { coalesce: 2_000 } })
    await connected(channel, 1)
    const counters = () => channel.balancer().stats().inBand
    for (let qps = 1; qps <= 10; qps++) {
      server.report = { qps }
      await channel.call()
    }
    server.report = undefined
    await channel.call()
    t.is(counters().stored, 1)
    await until(() => counters().stored === 2)
    t.is(channel.balancer().snapshot()[0]?.report.qps, 10)
    t.is(counters().absent, 0)
  },
)
