import { spawn } from 'node:child_process'

/** What came of a command. */
export interface Ran {
  /** 0 where all went well; 127 where it can't be started, 124 where it took too long. */
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Longest time of one command, ms: installing from a registry whose own cache is empty takes a while. */
const PATIENCE = 300_000

/** Runs a program to its end, in this environment and no other. */
export function execute(
  [file, ...args]: readonly [string, ...string[]],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ran> {
  const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr, overdue] = ['', '', false]
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const timer = setTimeout(() => {
    overdue = true
    child.kill('SIGKILL')
  }, PATIENCE)
  return new Promise((resolve) => {
    const end = (code: number, more = '') => {
      clearTimeout(timer)
      resolve({ code, stdout, stderr: stderr + more })
    }
    child.on('error', (error) => end(127, error.message))
    child.on('close', (code) => (overdue ? end(124, 'it took too long') : end(code ?? 1)))
  })
}
