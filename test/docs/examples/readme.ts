import type { Example } from '../examples.js'

export const readme: readonly Example[] = [
  {
    file: 'README.md',
    has: "createAgent({ host: '10.0.0.1', port: 9000, token",
  },
  {
    file: 'README.md',
    has: 'httpTransport({ port: 9000',
    comesTo: `
      assert.equal(text, 'report')
      for (const one of [node, other]) assert.ok(nodes.includes(one))
      await until(() => balancer.snapshot().every(({ fresh, cpu }) => fresh && cpu === 37.5))
      assert.equal(balancer.stats().leases.released, 1)`,
  },
]
