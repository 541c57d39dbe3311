import test from 'ava'
import { connect, connected, serve, type TestChannel, until } from './fleet.js'
import { pushed } from './pushed-resolver.js'

// One after the other: what is registered is registered for all.

const WEIGHTED = 'idlest_weighted_round_robin'
const busy = { qps: 100, application: 90 }
const idle = { qps: 100, application: 30 }

/** Shares as multiples of the smallest, in the order of the servers. */
function ratios({ balancer }: TestChannel, servers: readonly { readonly id: string }[]): number[] {
  const members = balancer().snapshot()
  const shares = servers.map(({ id }) => members.find((member) => member.id === id)?.share ?? 0)
  const least = Math.min(...shares.filter((share) => share > 0))
  return shares.map((share) => Math.round((share / least) * 100) / 100)
}

/** Calls until each of these servers has told its report. */
async function hear(channel: TestChannel, servers: Parameters<TestChannel['count']>[0]): Promise<void> {
  const counts = await channel.count(servers, 4 * servers.length)
  if (counts.some((count) => count === 0)) await hear(channel, servers)
}

test.serial('ids of nodes are addresses, those of one endpoint in an order of their own', async (t) => {
  const names = pushed()
  const [a, b] = [await serve(t), await serve(t)]
  const channel = connect(t, WEIGHTED, {}, names.target)
  channel.client.getChannel().getConnectivityState(true)
  await names.resolve([[b.port, a.port]])
  await connected(channel, 1)
  t.deepEqual(
    channel.balancer().nodes.map(({ id }) => id),
    [[a.id, b.id].sort().join(', ')],
  )
  await names.resolve([[a.port, b.port], a.port, a.port])
  await connected(channel, 2)
  t.is(channel.balancers.length, 1)
})

test.serial(
  'weights count from the end of the blackout on, 10 s unless the config has another',
  async (t) => {
    for (const [config, waited] of [
      [{}, 10_000],
      [{ blackoutPeriod: '2.5s' }, 3_000],
      [{ blackout_period: '2.5s', weight_update_period: '0.5s' }, 2_500],
    ] as const) {
      const servers = [await serve(t, busy), await serve(t, idle)]
      const channel = connect(t, WEIGHTED, config, servers)
      await connected(channel, 2)
      t.deepEqual(ratios(channel, servers), [1, 1])
      await hear(channel, servers)
      channel.clock.jump(waited - 1)
      t.deepEqual(ratios(channel, servers), [1, 1])
      channel.clock.jump(1)
      t.deepEqual(ratios(channel, servers), [1, 3])
    }
  },
)

test.serial('the other fields of the config are honoured by their lowerCamelCase names', async (t) => {
  const servers = [await serve(t, { ...idle, eps: 30 }), await serve(t, idle)]
  const channel = connect(
    t,
    WEIGHTED,
    {
      blackoutPeriod: '0s',
      weightUpdatePeriod: '5s',
      weightExpirationPeriod: '20s',
      errorUtilizationPenalty: 2,
      unknownField: true,
    },
    servers,
  )
  await connected(channel, 2)
  t.deepEqual(ratios(channel, servers), [1, 1])
  await hear(channel, servers)
  channel.clock.jump(4_999)
  t.deepEqual(ratios(channel, servers), [1, 1])
  channel.clock.jump(1)
  t.deepEqual(ratios(channel, servers), [1, 3])
  channel.clock.jump(14_999)
  t.deepEqual(ratios(channel, servers), [1, 3])
  channel.clock.jump(1)
  t.deepEqual(ratios(channel, servers), [1, 1])
})

for (const [metric, kept] of [
  ['named_metrics.queue', 'queue'],
  ['utilization.queue', 'utilization.queue'],
] as const) {
  test.serial(
    `metrics of the config stand for the utilization, by the names that gRFC A114 has for them: ${metric}`,
    async (t) => {
      const servers = [
        await serve(t, { qps: 100, cpu: 30, named: { [kept]: 0.9 } }),
        await serve(t, { qps: 100, cpu: 90, named: { [kept]: 0.3 } }),
      ]
      const config = { blackoutPeriod: '0s', metricNamesForComputingUtilization: [metric] }
      const channel = connect(t, WEIGHTED, config, servers)
      await connected(channel, 2)
      await hear(channel, servers)
      channel.clock.jump(1_000)
      t.deepEqual(ratios(channel, servers), [1, 3])
    },
  )
}

test.serial(
  'the same names again change nothing; others change who is picked, and those that stay keep their weights',
  async (t) => {
    const names = pushed()
    const servers = [await serve(t, busy), await serve(t, idle), await serve(t, idle)] as const
    const [a, b, c] = servers
    const channel = connect(t, WEIGHTED, {}, names.target)
    channel.client.getChannel().getConnectivityState(true)
    await names.resolve([a.port, b.port])
    await connected(channel, 2)
    await hear(channel, [a, b])
    channel.clock.jump(10_000)
    t.deepEqual(ratios(channel, [a, b]), [1, 3])
    for (const ports of [
      [a.port, b.port],
      [b.port, a.port],
    ]) {
      t.true(await names.resolve(ports))
      await channel.count(servers, 1)
      t.deepEqual(ratios(channel, [a, b]), [1, 3])
    }
    await names.resolve([a.port, b.port, c.port])
    await connected(channel, 3)
    // Of the new one nothing is known: it gets the mean.
    t.deepEqual(ratios(channel, servers), [1, 3, 2])
    await names.resolve([b.port, c.port])
    t.deepEqual((await channel.count(servers, 20))[0], 0)
    t.is(channel.balancers.length, 1)
  },
)

for (const isSeen of [true, false]) {
  const when = isSeen ? 'with calls meanwhile' : 'between two calls'
  test.serial(`a connection that is lost and comes back, ${when}, enters another blackout`, async (t) => {
    const servers = [await serve(t, busy), await serve(t, idle)] as const
    const [a, b] = servers
    const channel = connect(t, WEIGHTED, {}, servers)
    await connected(channel, 2)
    await hear(channel, servers)
    channel.clock.jump(10_000)
    t.deepEqual(ratios(channel, servers), [1, 3])
    b.kill()
    await until(() => channel.balancer().nodes.length === 1)
    if (isSeen) t.deepEqual(await channel.count(servers, 10), [10, 0])
    const again = await serve(t, idle, { port: b.port })
    await connected(channel, 2)
    // The mean of those that are known.
    t.deepEqual(ratios(channel, servers), [1, 1])
    await hear(channel, [a, again])
    channel.clock.jump(9_000)
    await hear(channel, [a, again])
    t.deepEqual(ratios(channel, servers), [1, 1])
    channel.clock.jump(1_000)
    t.deepEqual(ratios(channel, servers), [1, 3])
  })
}

test.serial(
  'a config that picks in another way begins anew with the readings that are there, and one that does not goes on',
  async (t) => {
    const names = pushed()
    const servers = [await serve(t, busy), await serve(t, idle)] as const
    const ports = servers.map(({ port }) => port)
    const channel = connect(t, WEIGHTED, {}, names.target)
    channel.client.getChannel().getConnectivityState(true)
    await names.resolve(ports)
    await connected(channel, 2)
    await hear(channel, servers)
    channel.clock.jump(10_000)
    await names.resolve(ports, { [WEIGHTED]: { blackoutPeriod: '10s' } })
    t.deepEqual(ratios(channel, servers), [1, 3])
    t.is(channel.balancers.length, 1)
    await names.resolve(ports, { [WEIGHTED]: { blackoutPeriod: '0s' } })
    t.is(channel.balancers.length, 2)
    await t.throwsAsync(async () => channel.balancers[0]?.select(), { code: 'IDLEST_CLOSED' })
    t.deepEqual(ratios(channel, servers), [1, 3])
    await channel.count(servers, 10)
    t.is(channel.balancer().stats().picks.picks, 10)
  },
)
