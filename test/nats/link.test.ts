import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import anyTest, { type ExecutionContext } from 'ava'
import { type LinkOptions, NatsLink } from '../../dist/nats/link.js'
import { pem, until } from '../agent/support.js'
import { serveTcp } from '../poller/agents.js'
import { freePort, NatsServer, test } from './server.js'

type Given = Omit<Partial<LinkOptions>, 'settings'> & { settings?: Partial<LinkOptions['settings']> }

/** A link that is closed when the test ends, with what it told. */
function link(t: ExecutionContext, server: string, { settings, ...given }: Given = {}) {
  const failures: string[] = []
  const refused: string[] = []
  const heard: string[] = []
  const made = new NatsLink({
    settings: { servers: [server], subject: 'load', ...settings },
    name: 'test',
    retry: 10,
    onConnect: (connection: NatsConnection) => {
      const callback = (error: Error | null, message: Msg) => {
        if (error === null) heard.push(message.string())
      }
      connection.subscribe('load.*', { callback })
    },
    onLost: (reason) => failures.push(reason),
    onRefused: (reason) => refused.push(reason),
    ...given,
  })
  t.teardown(() => made.close())
  return { link: made, failures, refused, heard }
}

async function addressOf(t: ExecutionContext, listener: (socket: Socket) => void): Promise<string> {
  const server = await serveTcp(t, listener)
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('it connects, and what is published is heard', async (t) => {
  const server = await NatsServer.start(t)
  const { link: one, heard } = link(t, server.address)
  t.is(one.failure, undefined)
  await until(() => one.connection !== undefined)
  one.connection?.publish('load.a', 'hello')
  await until(() => heard.length > 0)
  t.deepEqual(heard, ['hello'])
  t.is(one.connections, 1)
})

test('a server that was killed and comes again is found again, and says why not meanwhile', async (t) => {
  const server = await NatsServer.start(t)
  const { link: one, heard, failures } = link(t, server.address)
  await until(() => one.connection !== undefined)
  await server.kill()
  await until(() => failures.some((reason) => reason === 'connection refused'))
  t.is(one.connection, undefined)
  t.is(one.failure, 'connection refused')
  await server.start()
  await until(() => one.connection !== undefined)
  t.is(one.failure, undefined)
  one.connection?.publish('load.a', 'again')
  await until(() => heard.length > 0)
  t.is(one.connections, 2)
})

test('a server may come later', async (t) => {
  const server = await NatsServer.stopped(t)
  const { link: one } = link(t, server.address)
  await until(() => one.failure !== undefined)
  t.is(one.failure, 'connection refused')
  await server.start()
  await until(() => one.connection !== undefined)
  t.is(one.connections, 1)
})

test('of several servers one that runs is taken', async (t) => {
  const server = await NatsServer.start(t)
  const servers = [`127.0.0.1:${await freePort()}`, server.address, `127.0.0.1:${await freePort()}`]
  const { link: one } = link(t, server.address, { settings: { servers } })
  await until(() => one.connection !== undefined)
  t.is(one.connection?.getServer(), server.address)
})

test('tokens and users are proven, and a wrong one is told and tried no faster', async (t) => {
  const server = await NatsServer.start(t, 'authorization { token: "right" }')
  const right = link(t, server.address, { settings: { token: 'right' } })
  const wrong = link(t, server.address, { settings: { token: 'wrong' }, retry: 100 })
  await until(() => right.link.connection !== undefined && wrong.failures.length > 0)
  const began = performance.now()
  const before = wrong.failures.length
  await until(() => wrong.failures.length >= before + 3)
  t.true(performance.now() - began >= 290)
  t.regex(wrong.link.failure ?? '', /Authorization Violation/)
  // Not even where the server takes it later.
  await server.kill()
  server.configure('authorization { user: "me", password: "secret" }')
  await server.start()
  const user = link(t, server.address, { settings: { user: 'me', password: 'secret' } })
  await until(() => user.link.connection !== undefined)
  t.is(right.link.connection, undefined)
})

test('a server that refuses the subscription is told of, and left', async (t) => {
  const users = (permissions: string) =>
    `authorization { users: [{ user: "me", password: "secret", permissions: { ${permissions} } }] }`
  const server = await NatsServer.start(t, users('publish: ">", subscribe: "other.*"'))
  const {
    link: one,
    failures,
    heard,
  } = link(t, server.address, {
    settings: { user: 'me', password: 'secret' },
  })
  await until(() => failures.length > 1)
  t.regex(failures[0] ?? '', /Permissions Violation for Subscription to "load\.\*"/)
  await server.kill()
  server.configure(users('publish: ">", subscribe: "load.*"'))
  await server.start()
  await until(() => {
    one.connection?.publish('load.a', 'allowed')
    return heard.length > 0
  })
})

test('what may not be published is told of, and the connection goes on', async (t) => {
  const server = await NatsServer.start(
    t,
    'authorization { users: [{ user: "me", password: "secret", permissions: { publish: "load.a", subscribe: ">" } }] }',
  )
  const {
    link: one,
    heard,
    refused,
  } = link(t, server.address, {
    settings: { user: 'me', password: 'secret' },
  })
  await until(() => one.connection !== undefined)
  one.connection?.publish('load.b', 'no')
  one.connection?.publish('load.a', 'yes')
  await until(() => heard.length > 0 && refused.length > 0)
  t.deepEqual(heard, ['yes'])
  t.regex(refused[0] ?? '', /Permissions Violation for Publish to "load\.b"/)
  t.is(one.connections, 1)
})

test('a server that hangs is noticed by its silence', async (t) => {
  const server = await NatsServer.start(t)
  const { link: one, failures } = link(t, server.address, { ping: 200, timeout: 1_000 })
  await until(() => one.connection !== undefined)
  const before = failures.length
  server.signal('SIGSTOP')
  await until(() => failures.length > before + 1)
  t.deepEqual(failures.slice(before, before + 2), ['pings were not answered', 'no answer within 1000 ms'])
  const { connections } = one
  server.signal('SIGCONT')
  await until(() => one.connections > connections)
})

const TLS = 'tls { cert_file: "CERT", key_file: "KEY", timeout: 5 }'

function tlsConfig(name: string): string {
  const file = (suffix: string) => new URL(`../agent/tls/${name}${suffix}.pem`, import.meta.url).pathname
  return TLS.replace('CERT', file('')).replace('KEY', file('-key'))
}

test('TLS is checked: by its authority, its name and its time', async (t) => {
  const server = await NatsServer.start(t, tlsConfig('server'))
  const ca = pem('ca')
  const trusted = link(t, server.address, { settings: { tls: { ca } } })
  const several = link(t, server.address, { settings: { tls: { ca: [pem('stranger'), ca] } } })
  const named = link(t, `localhost:${server.port}`, { settings: { tls: { ca } } })
  const unknown = link(t, server.address)
  const misnamed = link(t, server.address, { settings: { tls: { ca, servername: 'other.example' } } })
  const anyone = link(t, server.address, { settings: { tls: { rejectUnauthorized: false } } })
  await until(() => [trusted, named, several, anyone].every(({ link: one }) => one.connection !== undefined))
  await until(() => [unknown, misnamed].every(({ failures }) => failures.length > 1))
  t.regex(unknown.failures[0] ?? '', /unable to verify|self-signed|unknown/i)
  t.regex(misnamed.failures[0] ?? '', /altnames/)

  const expired = await NatsServer.start(t, tlsConfig('expired'))
  const late = link(t, expired.address, { settings: { tls: { ca: pem('expired') } } })
  await until(() => late.failures.length > 1)
  t.regex(late.failures[0] ?? '', /expired/)
})

test('where TLS is asked for, nothing goes over a server that has none', async (t) => {
  const server = await NatsServer.start(t)
  const { link: one, failures } = link(t, server.address, { settings: { tls: {} } })
  await until(() => failures.length > 0)
  t.regex(failures[0] ?? '', /does not support 'tls'/)
  t.is(one.connections, 0)
})

const INFO = `INFO ${JSON.stringify({ server_id: 'x', version: '2.9.10', proto: 1, max_payload: 1_000_000, headers: true })}\r\n`

const WRONG: Record<string, (socket: Socket) => void> = {
  'closes at once': (socket) => socket.end(),
  resets: (socket) => socket.resetAndDestroy(),
  'is no NATS server': (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  'says who it is and resets': (socket) => socket.write(INFO, () => socket.resetAndDestroy()),
  'says who it is and closes': (socket) => socket.end(INFO),
  'says nothing that can be read': (socket) => socket.end(`INFO {"max_payload":\r\n`),
  'says who it is and then nothing': (socket) => socket.write(INFO),
  'says who it is byte by byte': async (socket) => {
    for (const byte of INFO) {
      if (!socket.writable) return
      socket.write(byte)
      await setTimeout(20)
    }
  },
  'wants TLS and has none': (socket) => {
    socket.write(INFO.replace('"proto"', '"tls_required":true,"proto"'))
    socket.once('data', () => socket.write('no TLS at all'))
  },
  'wants TLS and hangs': (socket) => socket.write(INFO.replace('"proto"', '"tls_required":true,"proto"')),
  'answers nothing at all': () => {},
  'floods 10 MB without a line end': (socket) => socket.write(Buffer.alloc(10_000_000, 'x')),
}

for (const [what, behave] of Object.entries(WRONG)) {
  anyTest(`a server that ${what} is a failure, and keeps no connection`, async (t) => {
    const sockets = new Set<Socket>()
    const address = await addressOf(t, (socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      socket.resume().on('end', () => socket.end())
      behave(socket)
    })
    const { link: one, failures } = link(t, address, { timeout: 150 })
    await until(() => failures.length > 2)
    t.is(one.connections, 0)
    t.not(failures[0], '')
    t.log(failures[0])
    await one.close()
    await until(() => sockets.size === 0)
  })
}

anyTest('a server that closes what it had taken is tried again', async (t) => {
  let taken = 0
  const address = await addressOf(t, (socket) => {
    socket.write(INFO)
    socket.on('data', (data) => {
      if (!data.includes('PING')) return
      taken++
      socket.write('PONG\r\n', () => socket.end())
    })
  })
  const { link: one, failures } = link(t, address)
  await until(() => taken > 2 && failures.length > 1)
  t.is(failures[0], 'the server closed the connection')
  t.true(one.connections >= 2)
})

anyTest('garbage on a connection ends it when pings find nobody', async (t) => {
  const address = await addressOf(t, (socket) => {
    socket.write(INFO)
    socket.on('data', (data) => {
      if (data.includes('PING')) socket.write('PONG\r\n@@@@@@@@\r\n')
    })
  })
  const { failures } = link(t, address, { ping: 20 })
  await until(() => failures.length > 1)
  t.is(failures[0], 'pings were not answered')
})

anyTest('it is closed at once while it connects, and leaves no socket', async (t) => {
  const sockets: Socket[] = []
  const address = await addressOf(t, (socket) => sockets.push(socket))
  const { link: one } = link(t, address, { timeout: 60_000 })
  await until(() => sockets.length > 0)
  const closed = sockets[0] && once(sockets[0], 'close')
  sockets[0]?.resume().on('end', () => sockets[0]?.end())
  await one.close()
  await one.close()
  await closed
  t.is(sockets.length, 1)
})

anyTest('it is closed at once while it waits', async (t) => {
  const { link: one, failures } = link(t, `127.0.0.1:${await freePort()}`, { retry: 60_000 })
  await until(() => failures.length > 0)
  await one.close()
  t.is(failures.length, 1)
})

anyTest('other connections of the process are left alone', async (t) => {
  const sockets: Socket[] = []
  const address = await addressOf(t, (socket) => sockets.push(socket))
  const { link: one } = link(t, address, { timeout: 60_000 })
  const other = connect(Number(address.split(':')[1]), '127.0.0.1')
  t.teardown(() => other.destroy())
  await until(() => sockets.length > 1)
  await one.close()
  t.false(other.destroyed)
  t.is(other.readyState, 'open')
})
