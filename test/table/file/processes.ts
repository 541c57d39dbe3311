// Processes that share a table in a file.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ava, { type ExecutionContext } from 'ava'
import { createTable, IdlestError } from '../../../dist/index.js'
import { engines } from '../../support/engines.js'

// Elsewhere there are no tables in files.
const hasFiles = process.platform === 'linux' && engines.includes('native')

/** Registers a test where processes can share a file. */
export function test(title: string, body: (t: ExecutionContext) => void | Promise<void>): void {
  if (hasFiles) ava(title, body)
}

if (!hasFiles) {
  ava('where processes can share no file, a table in one is an error that says so', (t) => {
    t.throws(() => createTable({ file: filePath() }), { instanceOf: IdlestError })
  })
}

export const program = fileURLToPath(new URL('../../fixtures/file-table.mjs', import.meta.url))

// Removed at the end: until then tables that nobody has any more would warn.
const folders: string[] = []
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A path for a file of a test's own, which is removed in the end. */
export function filePath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-file-'))
  folders.push(folder)
  return join(folder, 'table')
}

export interface Sharing {
  readonly file: string
  readonly nodes: readonly string[]
  readonly name?: string
  readonly maxNodes?: number
  readonly poll?: object
}

interface Message {
  readonly number?: number
  readonly answer?: unknown
  readonly cycle?: number
}

/** A process that shares a table, and does what it is told. */
export class SharingProcess {
  readonly exited: Promise<unknown>
  /** How many were asked in each of its poll cycles. */
  readonly cycles: number[] = []
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (answer: unknown) => void>()
  #onCycle: (() => void) | undefined
  #next = 0

  private constructor(t: ExecutionContext, child: ChildProcess) {
    this.#child = child
    this.exited = once(child, 'exit')
    t.teardown(() => child.kill('SIGKILL'))
    child.on('message', ({ number, answer, cycle }: Message) => {
      if (cycle !== undefined) {
        this.cycles.push(cycle)
        this.#onCycle?.()
      } else if (number !== undefined) {
        this.#waiting.get(number)?.(answer)
        this.#waiting.delete(number)
      }
    })
  }

  static async start(t: ExecutionContext, sharing: Sharing): Promise<SharingProcess> {
    const child = fork(program, [JSON.stringify(sharing)], { execArgv: [], serialization: 'advanced' })
    const started = new SharingProcess(t, child)
    await Promise.race([started.#answer(), started.exited])
    return started
  }

  /** Has it do something; gives what that came to. */
  do<T>(order: string, argument?: unknown): Promise<T> {
    this.#next++
    this.#child.send({ number: this.#next, order, argument })
    return this.#answer() as Promise<T>
  }

  get pid(): number {
    return this.#child.pid as number
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.exited
  }

  signal(name: NodeJS.Signals): void {
    // Not by the child: one that was sent a signal takes no other in Deno.
    process.kill(this.pid, name)
  }

  /** Resolves when it has ended so many more cycles; gives how many were asked in each. */
  async nextCycles(count: number): Promise<number[]> {
    const from = this.cycles.length
    await new Promise<void>((resolve) => {
      this.#onCycle = () => {
        if (this.cycles.length >= from + count) resolve()
      }
    })
    return this.cycles.slice(from, from + count)
  }

  #answer(): Promise<unknown> {
    const number = this.#next
    return new Promise((resolve) => this.#waiting.set(number, resolve))
  }
}

/** Asks again and again until the answer is right. */
export async function until<T>(ask: () => Promise<T> | T, right: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (right(answer)) return answer
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
