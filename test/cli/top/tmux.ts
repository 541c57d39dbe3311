import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'

const PROGRAM = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))

/** How long a screen may take to become what is waited for, ms: a busy machine is slow. */
const PATIENCE = 60_000

function find(): boolean {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Whether there is a tmux. */
export const hasTmux = find()

/** A shell in a real terminal emulator, by tmux. */
export class Terminal {
  readonly #socket: string

  private constructor(socket: string) {
    this.#socket = socket
  }

  /** Opens one of this size; it is closed when the test ends. */
  static async open(t: ExecutionContext, columns: number, rows: number): Promise<Terminal> {
    const folder = mkdtempSync(join(tmpdir(), 'idlest-tmux-'))
    const terminal = new Terminal(join(folder, 'socket'))
    t.teardown(async () => {
      await terminal.#tmux('kill-server')
      rmSync(folder, { recursive: true })
    })
    // tsx, which loads the tests, is not for the program; `+m` and the like are not for this shell.
    const env = ['-u', 'NODE_OPTIONS', '-u', 'NO_COLOR', '-u', 'FORCE_COLOR', 'ENV=', 'PS1=$ ', 'TERM=screen']
    const size = ['-x', String(columns), '-y', String(rows)]
    await terminal.#tmux('-f', '/dev/null', 'new-session', '-d', ...size, 'env', ...env, 'sh', '-i')
    await terminal.until(/^\$/m)
    return terminal
  }

  async #tmux(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)('tmux', ['-u', '-S', this.#socket, ...args])
    return stdout
  }

  /** Types a line into the shell; `idlest` is the program. */
  async run(line: string): Promise<void> {
    await this.#tmux('send-keys', '-l', line.replace('idlest', `${process.execPath} ${PROGRAM}`))
    await this.keys('Enter')
  }

  /** Presses keys, by tmux's names. */
  async keys(...keys: string[]): Promise<void> {
    await this.#tmux('send-keys', ...keys)
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#tmux('resize-window', '-x', String(columns), '-y', String(rows))
  }

  /** What is seen, line by line. */
  async screen(): Promise<string[]> {
    return (await this.#tmux('capture-pane', '-p')).trimEnd().split('\n')
  }

  /** Resolves to what is seen when that matches. */
  async until(pattern: RegExp): Promise<string[]> {
    const end = performance.now() + PATIENCE
    for (;;) {
      const screen = await this.screen()
      if (pattern.test(screen.join('\n'))) return screen
      if (performance.now() > end) throw new Error(`${pattern} is not seen on\n${screen.join('\n')}`)
      await delay(50)
    }
  }

  /** Whether the alternate screen is shown, and the cursor, and whether lines wrap. */
  async modes(): Promise<{ alternate: boolean; cursor: boolean; wraps: boolean }> {
    const flags = await this.#tmux('display', '-p', '#{alternate_on} #{cursor_flag} #{wrap_flag}')
    const [alternate, cursor, wraps] = flags
      .trim()
      .split(' ')
      .map((flag) => flag === '1')
    return { alternate: alternate === true, cursor: cursor === true, wraps: wraps === true }
  }
}
