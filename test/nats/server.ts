import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, isIPv6 } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import anyTest, { type ExecutionContext } from 'ava'

function findServer(): string | undefined {
  // Debian has it where only an administrator's PATH leads.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin']
  return folders
    .map((folder) => join(folder, 'nats-server'))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

const binary = findServer()

/** Whether this machine has nats-server. */
export const hasNats = binary !== undefined

/** For what needs a real server: shown as skipped where nats-server is not installed. */
export const test = binary === undefined ? anyTest.skip : anyTest

/** A port that nobody listens on. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

// A server says who it is to whoever connects.
async function speaks(port: number, host: string): Promise<boolean> {
  const socket = connect(port, host)
  try {
    await once(socket, 'data')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

// Ends a server when this process has: also where it is killed, as for a test that takes too long.
function guard({ pid }: ChildProcess): ChildProcess {
  const watch = spawn('sh', ['-c', 'read _; kill -9 "$0"', `${pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watch.unref()
  return watch
}

/** A real nats-server on the loopback, stopped when the test ends. */
export class NatsServer {
  readonly port: number
  readonly #host: string
  readonly #config: string
  #process: ChildProcess | undefined
  #guard: ChildProcess | undefined

  private constructor(host: string, port: number, config: string) {
    this.#host = host
    this.port = port
    this.#config = config
  }

  /**
   * @param config more of its configuration
   * @param host a loopback address
   */
  static async start(t: ExecutionContext, config = '', host?: string): Promise<NatsServer> {
    const server = await NatsServer.stopped(t, config, host)
    await server.start()
    return server
  }

  /** One that has a port, and is not started yet. */
  static async stopped(t: ExecutionContext, config = '', host = '127.0.0.1'): Promise<NatsServer> {
    const folder = mkdtempSync(join(tmpdir(), 'idlest-nats-'))
    const file = join(folder, 'server.conf')
    const server = new NatsServer(host, await freePort(host), file)
    server.configure(config)
    t.teardown(async () => {
      await server.kill()
      rmSync(folder, { recursive: true })
    })
    return server
  }

  get address(): string {
    return `${isIPv6(this.#host) ? `[${this.#host}]` : this.#host}:${this.port}`
  }

  /** What holds from the next start on. */
  configure(config: string): void {
    writeFileSync(this.#config, `listen: "${this.address}"\n${config}`)
  }

  async start(): Promise<void> {
    if (binary === undefined) throw new Error('there is no nats-server')
    const child = spawn(binary, ['-c', this.#config], { stdio: 'ignore' })
    this.#process = child
    this.#guard = guard(child)
    while (!(await speaks(this.port, this.#host))) {
      if (child.exitCode !== null) throw new Error(`nats-server ended with ${child.exitCode}`)
      await setTimeout(10)
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal)
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    this.#guard?.kill('SIGKILL')
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
}
