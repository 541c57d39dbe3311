import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'

const PROGRAM = fileURLToPath(new URL('../fixtures/mortal-node.mjs', import.meta.url))

// Warnings are part of what a balancer does; in the output of the tests they are noise.
process.removeAllListeners('warning')
process.on('warning', () => {})

/** A node in a process of its own, on the loopback, that can be killed and started again at its address. */
export class MortalNode {
  #port = 0
  #process: ChildProcess | undefined

  /** It ends with the test. */
  static async start(t: ExecutionContext, cpu = 0.2): Promise<MortalNode> {
    const node = new MortalNode()
    t.teardown(() => node.kill())
    await node.start(cpu)
    return node
  }

  /** As balancers know it. */
  get id(): string {
    return `127.0.0.1:${this.#port}`
  }

  /** @param cpu what it tells, 0-1 */
  async start(cpu: number): Promise<void> {
    // tsx, which loads the tests, is not for it.
    const { NODE_OPTIONS: _, ...env } = process.env
    const child = spawn(process.execPath, [PROGRAM, String(this.#port), String(cpu)], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#process = child
    const [said] = (await once(child.stdout, 'data')) as [Buffer]
    this.#port = Number(said.toString())
  }

  /** It answers no more, but is there: as a machine that hangs. */
  hang(): void {
    this.#process?.kill('SIGSTOP')
  }

  /** As by the kernel when memory is short: its connections break. */
  async kill(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
}

/** Several of them. */
export function startNodes(t: ExecutionContext, count: number): Promise<MortalNode[]> {
  return Promise.all(Array.from({ length: count }, () => MortalNode.start(t)))
}

/** Asks a node for its work. Rejects where it has none for us. */
export async function ask(node: string): Promise<string> {
  const response = await fetch(`http://${node}/work`)
  return response.text()
}

/** Resolves once it is so. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setTimeout(1)
}
