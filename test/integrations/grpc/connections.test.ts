import { once } from 'node:events'
import { constants, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import * as grpc from '@grpc/grpc-js'
import test from 'ava'
import { connect, connected, serve, until } from './fleet.js'
import { pushed } from './pushed-resolver.js'

// One after the other: what is registered is registered for all.

for (const policy of ['idlest_weighted_round_robin', 'idlest_adaptive'] as const) {
  test.serial(
    `${policy}: a server that is killed gets no more calls, and all with none left is UNAVAILABLE until one is back`,
    async (t) => {
      const servers = [await serve(t), await serve(t)] as const
      const [a, b] = servers
      const channel = connect(t, policy, {}, servers)
      await connected(channel, 2)
      a.kill()
      await until(() => channel.balancer().nodes.length === 1)
      t.deepEqual(await channel.count(servers, 10), [0, 10])
      b.kill()
      await until(() => channel.balancer().nodes.length === 0)
      const status = await channel.call()
      t.is(status.code, grpc.status.UNAVAILABLE)
      t.regex(status.details, new RegExp(`^${policy}: No connection established. Last error: .*ECONNREFUSED`))
      const waiting = channel.call({ deadline: Number.POSITIVE_INFINITY })
      await waiting
      const again = await serve(t, undefined, { port: a.port })
      await connected(channel, 1)
      t.is((await channel.call()).code, grpc.status.OK)
      t.is(again.calls, 1)
    },
  )
}

test.serial(
  "without a single address, or where names can't be resolved, calls are UNAVAILABLE and say why",
  async (t) => {
    const names = pushed()
    const server = await serve(t)
    const channel = connect(t, 'idlest_adaptive', {}, names.target)
    channel.client.getChannel().getConnectivityState(true)
    await names.fail('no such name')
    t.like(await channel.call(), { code: grpc.status.UNAVAILABLE, details: 'no such name' })
    t.false(await names.resolve([]))
    t.regex((await channel.call()).details, /^No addresses resolved/)
    t.true(await names.resolve([server.port]))
    await connected(channel, 1)
    t.is((await channel.call()).code, grpc.status.OK)
    // What was resolved once is as good as it was.
    t.true(await names.fail('no such name'))
    t.is((await channel.call()).code, grpc.status.OK)
    t.false(await names.resolve([]))
    t.is((await channel.call()).code, grpc.status.UNAVAILABLE)
    t.is(channel.balancer().nodes.length, 0)
  },
)

test.serial('nodes that say they drain get no calls, but where all do they all get some', async (t) => {
  const servers = [await serve(t), await serve(t)] as const
  const [a, b] = servers
  const channel = connect(t, 'idlest_adaptive', {}, servers)
  await connected(channel, 2)
  a.report = { state: 'drain' }
  while (a.calls === 0) await channel.call()
  t.deepEqual(await channel.count(servers, 10), [0, 10])
  b.report = { state: 'drain' }
  await channel.call()
  t.deepEqual(await channel.count(servers, 10), [5, 5])
  a.report = { state: 'up' }
  await channel.count(servers, 2)
  t.deepEqual(await channel.count(servers, 10), [10, 0])
})

for (const retries of [true, false]) {
  const what = retries ? 'grpc-js sends the call again' : 'the call fails'
  test.serial(`a server that refuses a stream is not blamed for it: ${what}`, async (t) => {
    let refused = 0
    const refusing = createServer()
    refusing.on('stream', (stream) => {
      refused++
      stream.on('error', () => {})
      stream.close(constants.NGHTTP2_REFUSED_STREAM)
    })
    refusing.listen(0, '127.0.0.1')
    await once(refusing, 'listening')
    t.teardown(() => refusing.close())
    const good = await serve(t)
    const id = `127.0.0.1:${(refusing.address() as AddressInfo).port}`
    const channel = connect(t, 'idlest_weighted_round_robin', {}, `ipv4:${good.id},${id}`, { retries })
    await connected(channel, 2)
    const codes: number[] = []
    for (let call = 0; call < 20; call++) codes.push((await channel.call()).code)
    const lost = codes.filter((code) => code !== grpc.status.OK)
    if (retries) t.deepEqual(lost, [])
    else t.deepEqual(lost, Array(10).fill(grpc.status.UNAVAILABLE))
    t.true(refused >= 10)
    t.is(channel.balancer().stats().leases.neutral, refused)
    t.like(
      channel
        .balancer()
        .snapshot()
        .find((member) => member.id === id),
      { released: 0, failed: 0, inFlight: 0, ejected: undefined },
    )
  })
}

test.serial('it goes under the outlier detection of gRPC', async (t) => {
  const names = pushed()
  const servers = [
    await serve(t, { qps: 100, application: 90 }),
    await serve(t, { qps: 100, application: 30 }),
  ]
  const channel = connect(t, 'idlest_weighted_round_robin', {}, names.target)
  channel.client.getChannel().getConnectivityState(true)
  const childPolicy = [{ idlest_weighted_round_robin: { blackoutPeriod: '0s' } }]
  await names.resolve(
    servers.map(({ port }) => port),
    { outlier_detection: { failure_percentage_ejection: {}, child_policy: childPolicy } },
  )
  await connected(channel, 2)
  await channel.count(servers, 10)
  channel.clock.jump(1_000)
  t.deepEqual(await channel.count(servers, 40), [10, 30])
})
