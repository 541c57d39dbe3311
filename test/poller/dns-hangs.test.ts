import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import test from 'ava'

// Before the modules that look names up are loaded: a DNS that never answers.
const asked: string[] = []
dns.lookup = ((name: string) => {
  asked.push(name)
}) as unknown as typeof dns.lookup
syncBuiltinESMExports()
const { connectOrca } = await import('../../dist/poller/orca-connection.js')
const { SecureContexts } = await import('../../dist/poller/secure-contexts.js')
const { processClock } = await import('../../dist/process-clock.js')

test('while DNS hangs, 40 nodes that are polled by gRPC hold two of its threads at most', (t) => {
  const nothing = () => {}
  const events = { onOpen: nothing, onMessage: nothing, onEnd: nothing, onLost: nothing, onFault: nothing }
  const contexts = new SecureContexts()
  const connections = Array.from({ length: 40 }, (_, i) =>
    connectOrca(
      {
        kind: 'orca',
        id: `node-${i}`,
        host: `node-${i >> 1}.test`,
        port: 4_000,
        secure: i % 2 === 1,
        authorization: undefined,
        tls: undefined,
        interval: 1_000,
      },
      contexts,
      events,
      processClock,
    ),
  )
  t.deepEqual(asked, ['node-0.test', 'node-1.test'])
  for (const connection of connections) connection.close()
})
