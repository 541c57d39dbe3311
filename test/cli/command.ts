import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** `idlest` in a process of its own. */
export class Cli {
  readonly process: ChildProcess
  stdout = ''
  stderr = ''
  readonly #closed: Promise<unknown[]>

  constructor(...args: string[]) {
    // tsx, which loads the tests, is not for the program.
    const { NODE_OPTIONS: _, ...env } = process.env
    this.process = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
    })
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    this.#closed = once(this.process, 'close')
  }

  get pid(): number {
    return this.process.pid as number
  }

  /** Its exit code, or the signal that ended it. */
  async ended(): Promise<number | string> {
    const [code, signal] = (await this.#closed) as [number | null, string | null]
    return code ?? signal ?? 'unknown'
  }

  /** The first line on stdout that matches. Rejects when it ends without one. */
  async line(pattern: RegExp): Promise<string> {
    const { stdout } = this.process
    if (stdout === null) throw new Error('no stdout')
    const lines = createInterface({ input: stdout })
    try {
      return await new Promise<string>((resolve, reject) => {
        lines.on('line', (line) => {
          if (pattern.test(line)) resolve(line)
        })
        lines.on('close', () => reject(new Error(`no line is like ${pattern}; stderr: ${this.stderr}`)))
      })
    } finally {
      lines.close()
      // The interface pauses what it read from.
      stdout.resume()
    }
  }

  /** Ids of the processes that it has started and that run. */
  children(): number[] {
    const children: number[] = []
    for (const [pid, parent] of parents()) if (parent === this.pid) children.push(pid)
    return children
  }
}

/** The parent of every process. */
function parents(): Map<number, number> {
  if (process.platform !== 'linux') {
    const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    return new Map(table.split('\n').map((row) => row.trim().split(/\s+/).map(Number) as [number, number]))
  }
  // A slim image has no ps.
  const found = new Map<number, number>()
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    try {
      // pid (name) state parent: the name may have any character.
      const [, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
      found.set(pid, Number(parent))
    } catch {
      // It has ended meanwhile.
    }
  }
  return found
}

/** Runs `idlest` to its end. */
export async function run(
  ...args: string[]
): Promise<{ code: number | string; stdout: string; stderr: string }> {
  const cli = new Cli(...args)
  const code = await cli.ended()
  return { code, stdout: cli.stdout, stderr: cli.stderr }
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Resolves when none of these processes runs any more; for those that end by themselves. */
export async function gone(pids: readonly number[]): Promise<void> {
  while (pids.some(runs)) await delay(20)
}

/** Which of these processes still run. */
export function left(pids: readonly number[]): number[] {
  return pids.filter(runs)
}
