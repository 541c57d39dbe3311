import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Usage } from './governor.js'
import type { FromServer, ServerSettings, UsageRequest } from './messages.js'

const PROGRAM = fileURLToPath(new URL('./server.js', import.meta.url))

/** How long a server may take to start, and to say its usage, ms. */
const PATIENCE = 20_000

/** How long a server may take to end when it is told to, ms. */
const GRACE = 1_000

/** How much of what a server writes to stderr is kept, characters. */
const KEPT = 4_000

type MessageOf<K extends FromServer['kind']> = Extract<FromServer, { kind: K }>

/** A server of the demo has ended, or can't be reached. */
export class ServerFailure extends Error {
  override readonly name = 'ServerFailure'
}

/** A process that takes requests. A node of the balancer: its id is the address that requests go to. */
export interface Server {
  readonly id: string
  /** Its place among the servers, from 0. */
  readonly index: number
  readonly name: string
  readonly pid: number
  readonly settings: ServerSettings
  /** Where its report is. */
  readonly report: string
  usage(): Promise<Usage>
}

/** The servers' processes. None of them outlives this process, however it ends: each watches its channel to it. */
export class Servers {
  readonly list: readonly Server[]
  /** Rejects with ServerFailure when a server ends by itself. */
  readonly failed: Promise<never>
  readonly #children: readonly Child[]

  private constructor(children: readonly Child[], list: readonly Server[]) {
    this.#children = children
    this.list = list
    this.failed = Promise.race(children.map((child) => child.failed))
    this.failed.catch(() => {})
  }

  /** Starts a server for each of `settings`. Rejects with ServerFailure, or with the signal's reason. */
  static async start(settings: readonly ServerSettings[], signal: AbortSignal): Promise<Servers> {
    signal.throwIfAborted()
    const children = settings.map((each, index) => new Child(each, index))
    try {
      return new Servers(children, await Promise.all(children.map((child) => child.ready(signal))))
    } catch (error) {
      await stopAll(children)
      throw error
    }
  }

  /** Ends all of them, and resolves when they have ended. */
  stop(): Promise<void> {
    return stopAll(this.#children)
  }
}

async function stopAll(children: readonly Child[]): Promise<void> {
  await Promise.all(children.map((child) => child.stop()))
}

class Child {
  readonly failed: Promise<never>
  readonly #process: ChildProcess
  readonly #settings: ServerSettings
  readonly #index: number
  readonly #name: string
  #stderr = ''
  #stopping = false

  constructor(settings: ServerSettings, index: number) {
    this.#settings = settings
    this.#index = index
    this.#name = `server ${index + 1}`
    // Flags of this process, such as a debugger's port, are not for its children.
    this.#process = fork(PROGRAM, [JSON.stringify(settings)], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-KEPT)
    })
    this.failed = new Promise((_, reject) => {
      this.#process.on('error', (error) => reject(this.#failure(`can't be run: ${error.message}`)))
      // Not `exit`: what it wrote last comes before this.
      this.#process.once('close', (code, by) => {
        if (!this.#stopping) reject(this.#failure(`ended by itself (${by ?? `exit code ${code}`})`))
      })
    })
    this.failed.catch(() => {})
  }

  async ready(signal: AbortSignal): Promise<Server> {
    const { port, report } = await this.#receive('ready', signal)
    return {
      id: `127.0.0.1:${port}`,
      index: this.#index,
      name: this.#name,
      pid: this.#process.pid as number,
      settings: this.#settings,
      report,
      usage: async () => {
        const answer = this.#receive('usage')
        this.#process.send({ kind: 'usage' } satisfies UsageRequest)
        return (await answer).usage
      },
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true
    const child = this.#process
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    const timer = setTimeout(() => child.kill('SIGKILL'), GRACE)
    if (child.connected) child.disconnect()
    await ended
    clearTimeout(timer)
  }

  async #receive<K extends FromServer['kind']>(kind: K, signal?: AbortSignal): Promise<MessageOf<K>> {
    let over = () => {}
    const message = new Promise<MessageOf<K>>((resolve, reject) => {
      const listen = (received: unknown) => {
        if ((received as FromServer).kind === kind) resolve(received as MessageOf<K>)
      }
      const abort = () => reject(signal?.reason)
      const timer = setTimeout(() => reject(this.#failure(`said nothing for ${PATIENCE / 1000} s`)), PATIENCE)
      this.#process.on('message', listen)
      signal?.addEventListener('abort', abort)
      over = () => {
        clearTimeout(timer)
        this.#process.off('message', listen)
        signal?.removeEventListener('abort', abort)
      }
    })
    try {
      return await Promise.race([message, this.failed])
    } finally {
      over()
    }
  }

  #failure(what: string): ServerFailure {
    const wrote = this.#stderr.trim()
    return new ServerFailure(`${this.#name} ${what}${wrote === '' ? '' : `; it wrote:\n${wrote}`}`)
  }
}
