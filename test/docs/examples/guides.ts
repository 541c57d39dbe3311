import type { Example } from '../examples.js'

const CHOOSING = '.github/docs/choosing.md'
const FROM_LEAST_CPU = '.github/docs/from-least-cpu.md'
const FROM_RANDOM = '.github/docs/from-random.md'
const INSTALLING = '.github/docs/installing.md'
const SECURITY = '.github/docs/security.md'

export const guides: readonly Example[] = [
  {
    file: FROM_RANDOM,
    has: 'const node = nodes[Math',
    comesTo: 'assert.ok(nodes.includes(node as string))',
  },
  {
    file: FROM_RANDOM,
    has: 'import { select }',
    comesTo: 'assert.ok(nodes.includes(node))',
  },
  {
    file: FROM_RANDOM,
    has: "zone: 'a'",
    comesTo: 'assert.deepEqual(servers.find((server) => server.id === id), { id, zone })',
  },
  {
    file: FROM_RANDOM,
    has: 'select([...nodes',
  },
  {
    file: FROM_RANDOM,
    has: 'const part = 0.1',
    comesTo: 'assert.ok(nodes.includes(node as string))',
  },
  {
    file: FROM_RANDOM,
    has: 'await configure({ poll',
    comesTo: `
      const watch = createBalancer({ nodes, poll: false })
      select(nodes)
      await until(() => watch.snapshot().every(({ fresh, cpu }) => fresh && cpu === 37.5))`,
  },
  {
    file: FROM_RANDOM,
    has: 'watch.explain()',
    comesTo: `
      watch.report(nodes[0] as string, { cpu: 80 })
      watch.report(nodes[1] as string, { cpu: 20 })
      watch.remove(nodes[2] as string)
      assert.equal(watch.explain(nodes[0] as string).words, 'may be picked, 20.3 % of draws: CPU of 80 %')`,
  },
  {
    file: FROM_RANDOM,
    has: "subscribe('idlest:poll:remote-error'",
    comesTo: `
      const warned: string[] = []
      console.warn = (line: string) => warned.push(line)
      process.removeAllListeners('warning').on('warning', () => {})
      // Named, because port numbers that are written out are replaced by those of this machine's servers.
      const closed = 1
      createBalancer({ nodes: ['127.0.0.1:1'], poll: { port: closed, startupJitter: 0 } })
      await until(() => warned.length > 0)
      assert.match(warned[0] ?? '', /^127.0.0.1:1 is not read: exit, /)`,
  },
  {
    file: FROM_RANDOM,
    has: 'balancer.run(',
    comesTo: `
      assert.equal(text, 'report')
      assert.equal(balancer.stats().leases.released, 1)`,
  },
  {
    file: FROM_RANDOM,
    has: 'configure({ algorithm: random() })',
    comesTo: 'assert.ok(nodes.includes(select(nodes)))',
  },
  {
    file: FROM_LEAST_CPU,
    has: "self: '10.0.0.1:8080'",
    comesTo: `
      assert.deepEqual(balancer.nodes, nodes)
      assert.match(balancer.explain()[0]?.words ?? '', /no member has a fresh report/)
      await balancer.close()`,
  },
  {
    file: FROM_LEAST_CPU,
    has: 'const picked = new Set(',
    comesTo: "assert.deepEqual([...picked].sort(), ['a', 'b'])",
  },
  {
    file: CHOOSING,
    has: 'hashRing({ boundedLoad',
    comesTo: `
      assert.equal(node, copies[0])
      assert.equal(new Set(copies).size, 2)`,
  },
  {
    file: CHOOSING,
    has: "name: 'next'",
    comesTo: `
      assert.equal(text, 'report')
      assert.equal(now.stats().leases.released + next.stats().leases.released, 1)
      await now.close()`,
  },
  {
    file: INSTALLING,
    has: 'if (isSea())',
    comesTo: 'assert.equal(process.env.IDLEST_BINDING_PATH, undefined)',
  },
  {
    file: SECURITY,
    has: "createAgent({ host: '10.0.0.1', port: 9000, token",
  },
  {
    file: SECURITY,
    has: 'const tokens = new Map(',
    comesTo: `
      process.removeAllListeners('warning').on('warning', () => {})
      const balancer = createBalancer({ nodes, poll: { transport, startupJitter: 0 } })
      await balancer.ready()
      assert.equal(balancer.stats().poll?.error, 3) // neither is this agent's`,
  },
  {
    file: SECURITY,
    has: 'requestCert: true',
  },
  {
    file: SECURITY,
    has: "protocol: 'https', port: 9000",
    comesTo: 'await until(() => balancer.snapshot()[0]?.cpu === 37.5)',
  },
  {
    file: SECURITY,
    has: 'const inside = ',
    comesTo: `
      assert.ok(['10.0.0.1', '127.0.0.1', '::ffff:10.1.2.3', '::1'].every(inside))
      assert.ok(!['192.0.2.1', '101.0.0.1', undefined].some(inside))
      app.get('/', (_: unknown, response: { send(text: string): void }) => response.send('served'))
      app.listen(0, '127.0.0.1')
      const served = await answer({ 'endpoint-load-metrics-format': 'TEXT' })
      assert.match(served.headers.get('endpoint-load-metrics') ?? '', /cpu_utilization=/)`,
  },
]
