import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { AgentPorts } from './words.js'

/** Agents in processes of their own, and how many of them nothing ever happens to. */
const COUNT = 6
const STEADY = 2
/** Between two faults of agents, and how long one is gone, ms. */
const PAUSE = 6_000
const GONE = 3_000

/** Starts a program of this folder; TypeScript is loaded by tsx. */
export function start(
  file: string,
  args: readonly string[] = [],
  flags: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  const execArgv = [...(file.endsWith('.ts') ? ['--import', 'tsx'] : []), ...flags]
  // What these tests were started with is not for them.
  const { NODE_OPTIONS: _, ...own } = process.env
  return fork(new URL(file, import.meta.url), [...args], { execArgv, env: { ...own, ...env } })
}

class Agent {
  readonly steady: boolean
  ports: AgentPorts
  #child: ChildProcess | undefined

  constructor(steady: boolean) {
    this.steady = steady
    this.ports = { http: 0, grpc: 0, steady }
  }

  /** At the ports that it had before. */
  async start(): Promise<void> {
    const { http, grpc, steady } = this.ports
    const child = start('./agent.mjs', [http, grpc, steady ? 1 : 0].map(String))
    const ports = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => undefined)])
    // Its port is somebody else's for now.
    if (ports === undefined) return
    this.#child = child
    this.ports = { ...(ports[0] as { http: number; grpc: number }), steady }
  }

  async kill(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal)
  }

  /** Reports that it sent on its streams. */
  async sent(): Promise<number> {
    if (this.#child === undefined) return 0
    this.#child.send('sent')
    const [message] = (await once(this.#child, 'message')) as [{ sent: number }]
    return message.sent
  }
}

/** Agents that are killed and started again, or hang for a while. */
export class Fleet {
  readonly faults = { 'agents killed': 0, 'agents that hung': 0 }
  readonly #agents = Array.from({ length: COUNT }, (_, i) => new Agent(i < STEADY))
  #ended = false
  #going: Promise<void> = Promise.resolve()

  async start(): Promise<readonly AgentPorts[]> {
    await Promise.all(this.#agents.map((agent) => agent.start()))
    return this.#agents.map(({ ports }) => ports)
  }

  /** From now on. */
  goWrong(): void {
    this.#going = this.#goWrong()
  }

  /** Nothing happens to them any more. */
  async settle(): Promise<void> {
    this.#ended = true
    await this.#going
  }

  /** Reports that the steady ones sent on their streams. */
  async sent(): Promise<number> {
    const sent = await Promise.all(this.#agents.filter(({ steady }) => steady).map((agent) => agent.sent()))
    return sent.reduce((sum, count) => sum + count, 0)
  }

  async end(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.kill()))
  }

  async #goWrong(): Promise<void> {
    const mortal = this.#agents.filter(({ steady }) => !steady)
    while (!this.#ended) {
      await delay(PAUSE)
      const agent = mortal[Math.floor(Math.random() * mortal.length)] as Agent
      if (Math.random() < 0.5) {
        this.faults['agents killed']++
        await agent.kill()
        await delay(GONE)
        await agent.start()
      } else {
        this.faults['agents that hung']++
        agent.signal('SIGSTOP')
        await delay(GONE)
        agent.signal('SIGCONT')
      }
    }
  }
}
