import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import anyTest, { type ExecutionContext } from 'ava'
import { agentCheckTransport } from '../../dist/poller/transports/agent-check.js'
import { httpTransport } from '../../dist/poller/transports/http.js'
import { orcaTransport } from '../../dist/poller/transports/orca.js'
import { pem, until } from '../agent/support.js'
import { httpPoller, readingOf } from './agents.js'

// Node.js can't send as many tickets as it likes; openssl can. Without it these are shown as skipped.
const test = spawnSync('openssl', ['version']).status === 0 ? anyTest : anyTest.skip

/** A server of TLS that sends so many tickets when a connection begins, and nothing else. */
async function ticketServer(t: ExecutionContext, tickets: number, protocols: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-tickets-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'key'), pem('server-key'))
  writeFileSync(join(folder, 'cert'), pem('server'))
  const server = spawn('openssl', [
    ...['s_server', '-accept', '127.0.0.1:0', '-key', join(folder, 'key'), '-cert', join(folder, 'cert')],
    ...['-num_tickets', String(tickets), '-alpn', protocols],
  ])
  t.teardown(() => server.kill())
  return new Promise((resolve, reject) => {
    let said = ''
    server.stdout.on('data', (chunk) => {
      said += chunk
      const port = /ACCEPT .*:(\d+)/.exec(said)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
    server.once('exit', () => reject(new Error(said)))
  })
}

const tls = { ca: pem('ca') }

for (const { name, transport, protocols } of [
  { name: 'HTTP', transport: httpTransport({ protocol: 'https', tls }), protocols: 'http/1.1' },
  { name: 'gRPC', transport: orcaTransport({ protocol: 'https', tls }), protocols: 'h2' },
  {
    name: 'agent-check',
    transport: (port: number) => agentCheckTransport({ port, tls }),
    protocols: 'http/1.1',
  },
]) {
  test(`by ${name}, a node that sends TLS session tickets without end has failed`, async (t) => {
    const port = await ticketServer(t, 1_000, protocols)
    const id = `127.0.0.1:${port}`
    const { table, poller } = httpPoller(t, {
      transport: typeof transport === 'function' ? transport(port) : transport,
    })
    poller.setMembers([table.claim(id)])
    poller.start()
    await until(() => /more than 32 TLS session tickets/.test(poller.failureOf(id)?.reason ?? ''))
    t.is(readingOf(table, id), undefined)
  })
}

test('a node that sends a few is not at fault', async (t) => {
  const id = `127.0.0.1:${await ticketServer(t, 4, 'h2')}`
  const { table, poller } = httpPoller(t, {
    transport: orcaTransport({ protocol: 'https', tls }),
    timeout: 300,
  })
  poller.setMembers([table.claim(id)])
  poller.start()
  await poller.ready
  t.regex(poller.failureOf(id)?.reason ?? '', /no answer within/)
})
