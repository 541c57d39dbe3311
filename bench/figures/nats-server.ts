import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'

export interface NatsProcess extends AsyncDisposable {
  readonly address: string
}

/** How long it may take to listen, ms. */
const PATIENCE = 5_000

/** Starts nats-server on loopback; undefined where this machine has none. */
export async function startNats(): Promise<NatsProcess | undefined> {
  const port = await freePort()
  // Debian has it where only an administrator's PATH leads.
  const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`
  const server = spawn('nats-server', ['-a', '127.0.0.1', '-p', `${port}`], {
    stdio: 'ignore',
    env: { ...process.env, PATH },
  })
  const gone = new Promise<'gone'>((resolve) => {
    server.once('error', () => resolve('gone'))
    server.once('exit', () => resolve('gone'))
  })
  const started = await Promise.race([gone, listens(port)])
  if (started === 'gone') return undefined
  return {
    address: `127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.kill()
      await gone
    },
  }
}

async function listens(port: number): Promise<void> {
  const end = performance.now() + PATIENCE
  while (performance.now() < end) {
    const socket = connect(port, '127.0.0.1')
    try {
      // It says who it is.
      await once(socket, 'data')
      return
    } catch {
      await setTimeout(50)
    } finally {
      socket.destroy()
    }
  }
  throw new Error(`nats-server does not listen on port ${port}`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
