// A real DNS server on loopback: dnsmasq, which answers from a file of hosts.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'

/** Whether this machine has it. */
export const hasDnsmasq = spawnSync('dnsmasq', ['--version'], { stdio: 'ignore' }).status === 0

async function freePort(): Promise<number> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve)
  })
  const { port } = socket.address()
  await new Promise<void>((resolve) => {
    socket.close(() => resolve())
  })
  return port
}

/** A server of its own for a test, which ends with it. */
export class Dnsmasq {
  readonly #folder: string
  #port: number
  readonly #options: readonly string[]
  #process: ChildProcess | undefined

  private constructor(folder: string, port: number, options: readonly string[]) {
    this.#folder = folder
    this.#port = port
    this.#options = options
  }

  /** @param options more of dnsmasq's, such as for SRV records */
  static async start(t: ExecutionContext, hosts: string, options: readonly string[] = []): Promise<Dnsmasq> {
    const folder = mkdtempSync(join(tmpdir(), 'idlest-dns-'))
    const server = new Dnsmasq(folder, await freePort(), options)
    t.teardown(async () => {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    })
    server.#write(hosts)
    await server.#runSomewhere()
    return server
  }

  // A port that was free a moment ago may be taken by now, or be taken for UDP alone.
  async #runSomewhere(tries = 10): Promise<void> {
    try {
      await this.run()
    } catch (error) {
      if (tries === 1 || !String(error).includes('Address already in use')) throw error
      this.#port = await freePort()
      await this.#runSomewhere(tries - 1)
    }
  }

  /** Starts it, after `stop` again at the same port, and waits until it answers. */
  async run(options = this.#options): Promise<void> {
    const child = spawn(
      'dnsmasq',
      [
        '--keep-in-foreground',
        '--conf-file=/dev/null',
        '--no-resolv',
        '--no-hosts',
        '--listen-address=127.0.0.1',
        '--bind-interfaces',
        `--port=${this.#port}`,
        `--addn-hosts=${this.#hosts}`,
        '--local=/test/',
        '--local-ttl=1',
        '--user=root',
        '--pid-file=',
        ...options,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    let log = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
    this.#process = child
    const resolver = this.resolver()
    for (;;) {
      if (child.exitCode !== null) throw new Error(`dnsmasq ended with ${child.exitCode}: ${log}`)
      const code = await resolver.resolve4('ready.test').then(
        () => '',
        (error: NodeJS.ErrnoException) => error.code,
      )
      if (code === '') return
    }
  }

  async stop(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null) return
    const gone = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGKILL')
    await gone
  }

  /** Answers by these hosts from now on. */
  serve(hosts: string): void {
    this.#write(hosts)
    this.#process?.kill('SIGHUP')
  }

  resolver(): Resolver {
    const resolver = new Resolver({ timeout: 1_000, tries: 1 })
    resolver.setServers([`127.0.0.1:${this.#port}`])
    return resolver
  }

  get #hosts(): string {
    return join(this.#folder, 'hosts')
  }

  #write(hosts: string): void {
    writeFileSync(this.#hosts, `127.0.0.1 ready.test\n${hosts}\n`)
  }
}

/** Lines of a hosts file that give a name these addresses. */
export function hostsOf(name: string, addresses: readonly string[]): string {
  return addresses.map((address) => `${address} ${name}`).join('\n')
}
