import test from 'ava'
import type { Report } from '../../../dist/index.js'
import { connect, connected, serve } from './fleet.js'

const rows: { name: string; config: object; reports: (Report | undefined)[]; expected: number[] }[] = [
  {
    name: 'two that report and a silent one, which gets the mean',
    config: { blackoutPeriod: '0s' },
    reports: [{ qps: 100, application: 90 }, { qps: 100, application: 30 }, undefined],
    expected: [100, 300, 200],
  },
  {
    name: 'one that reports and a silent one',
    config: { blackoutPeriod: '0s' },
    reports: [{ qps: 100, application: 90 }, undefined],
    expected: [300, 300],
  },
  {
    name: 'cpu where there is no application utilization',
    config: { blackoutPeriod: '0s' },
    reports: [
      { qps: 100, cpu: 10 },
      { qps: 100, cpu: 90 },
    ],
    expected: [540, 60],
  },
]

for (const { name, config, reports, expected } of rows) {
  test.serial(`${name}: over 600 calls ${expected.join(':')}`, async (t) => {
    const servers = await Promise.all(reports.map((report) => serve(t, report)))
    const channel = connect(t, 'idlest_weighted_round_robin', config, servers)
    await connected(channel, servers.length)
    await channel.count(servers, 12)
    channel.clock.jump(1_000)
    const found = await channel.count(servers, 600)
    t.true(
      found.every((count, i) => Math.abs(count - (expected[i] as number)) <= 1),
      String(found),
    )
  })
}
