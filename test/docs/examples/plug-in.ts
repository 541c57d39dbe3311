import type { Example } from '../examples.js'

const PLUG_IN = '.github/docs/plug-in.md'

export const plugIn: readonly Example[] = [
  {
    file: PLUG_IN,
    has: 'new BalancedDispatcher(',
    comesTo: `
      assert.equal(await response.text(), 'report')
      assert.equal(dispatcher.stats.requests, 1)
      assert.equal(balancer.stats().leases.released, 1)
      await dispatcher.close()`,
  },
  {
    file: PLUG_IN,
    has: 'registerIdlestPolicies()',
    comesTo: `
      assert.ok(grpc.experimental.isLoadBalancerNameRegistered('idlest_weighted_round_robin'))
      assert.ok(grpc.experimental.isLoadBalancerNameRegistered('idlest_adaptive'))
      client.close()`,
  },
  {
    file: PLUG_IN,
    has: 'dnsDiscovery({ hostname',
    comesTo: `
      assert.deepEqual(balancer.nodes, [])
      await balancer.close()`,
  },
  {
    file: PLUG_IN,
    has: 'createTable({ file:',
    needs: 'native',
    comesTo: `
      await until(() => balancer.stats().poll?.elected?.here === true)
      await balancer.close()`,
  },
  {
    file: PLUG_IN,
    has: 'balancer.explain(',
    comesTo: 'assert.equal(balancer.explain()[0]?.mayBePicked, true)',
  },
  {
    file: PLUG_IN,
    has: "from 'idlest/prometheus'",
    comesTo: 'assert.match(page, /^idlest_pool_size\\{.*state=.up.*\\} \\d$/m)',
  },
  {
    file: PLUG_IN,
    has: "from 'idlest/opentelemetry'",
  },
]
