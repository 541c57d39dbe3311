import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'

/** Whether this machine has HAProxy. */
export const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0

/** A server line, and where its agent check is. */
export interface HaproxyServer {
  readonly name: string
  readonly port: number
  readonly agentPort: number
}

/** Time that HAProxy has to do what it is told: far more than it takes. */
const DEADLINE = 30_000

/** Has `condition` come true within the deadline? Rejects with what it gave last. */
export async function eventually<T>(look: () => Promise<T>, condition: (value: T) => boolean): Promise<T> {
  const end = performance.now() + DEADLINE
  for (;;) {
    const value = await look()
    if (condition(value)) return value
    if (performance.now() > end) throw new Error(`still ${JSON.stringify(value)}`)
    await delay(20)
  }
}

function configurationOf(servers: readonly HaproxyServer[], path: (name: string) => string): string {
  const lines = servers.map(
    ({ name, port, agentPort }) =>
      `  server ${name} 127.0.0.1:${port} weight 100 agent-check agent-addr 127.0.0.1 agent-port ${agentPort} agent-inter 100ms`,
  )
  return `global
  nbthread 1
  maxconn 200
  stats socket ${path('stats')} mode 600 level admin
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend front
  bind ${path('front')}
  default_backend back
backend back
  balance roundrobin
${lines.join('\n')}
`
}

/** HAProxy in front of some servers; what it listens on are sockets of the file system, so that no port is in its way. */
export class Haproxy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'idlest-haproxy-'))
  readonly #process: ChildProcess
  #log = ''

  private constructor(configure: (path: (name: string) => string) => string) {
    const file = join(this.#folder, 'haproxy.cfg')
    writeFileSync(
      file,
      configure((name) => this.#path(name)),
    )
    this.#process = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on('data', (text) => {
        this.#log += text
      })
    }
  }

  /** Starts it in front of these, and waits until it answers; it ends with the test. */
  static start(t: ExecutionContext, servers: readonly HaproxyServer[]): Promise<Haproxy> {
    return Haproxy.startWith(t, (path) => configurationOf(servers, path))
  }

  /**
   * Starts it with a configuration of the caller's.
   * @param configure given the paths of its sockets, `stats` and `front`; its backend is `back`
   */
  static async startWith(
    t: ExecutionContext,
    configure: (path: (name: string) => string) => string,
  ): Promise<Haproxy> {
    const haproxy = new Haproxy(configure)
    t.teardown(async () => {
      const process = haproxy.#process
      const gone = new Promise((resolve) => process.once('close', resolve))
      if (process.kill('SIGKILL')) await gone
      rmSync(haproxy.#folder, { recursive: true, force: true })
    })
    await eventually(
      async () => {
        const { exitCode } = haproxy.#process
        if (exitCode !== null) throw new Error(`haproxy ended with ${exitCode}: ${haproxy.#log}`)
        return haproxy.command('show info').catch(() => '')
      },
      (info) => info.includes('Version:'),
    )
    return haproxy
  }

  /** What the runtime API answers. */
  command(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let answer = ''
      const socket = connect(this.#path('stats'), () => socket.write(`${text}\n`))
      socket.setEncoding('utf8')
      socket.on('data', (chunk: string) => {
        answer += chunk
      })
      socket.once('error', reject)
      socket.once('close', () => resolve(answer))
    })
  }

  /** A server's weight as it is used now. */
  async weight(server: string): Promise<number> {
    return Number.parseInt(await this.command(`get weight back/${server}`), 10)
  }

  /** A server's row of the statistics, by column. */
  async row(server: string): Promise<Readonly<Record<string, string>>> {
    const [head = '', ...rows] = (await this.command('show stat back 4 -1')).trim().split('\n')
    const columns = head.replace(/^# /, '').split(',')
    const cells = rows.map((row) => row.split(',')).find(([, name]) => name === server) ?? []
    return Object.fromEntries(columns.map((column, i) => [column, cells[i] ?? '']))
  }

  /** What it says of a server, such as `MAINT`; `no check` is said of a server that is up, as nothing else looks at it. */
  async status(server: string): Promise<string> {
    return (await this.row(server)).status ?? ''
  }

  /** A request through it; gives the body. */
  get(): Promise<{ readonly status: number; readonly body: string }> {
    return new Promise((resolve, reject) => {
      const call = request({ socketPath: this.#path('front'), agent: false }, (response) => {
        let body = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          body += chunk
        })
        response.once('end', () => resolve({ status: response.statusCode ?? 0, body }))
      })
      call.once('error', reject)
      call.end()
    })
  }

  #path(name: string): string {
    return join(this.#folder, name)
  }
}
