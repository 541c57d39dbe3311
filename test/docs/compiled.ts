// Compiles examples as their readers would: in a folder of its own, in which the package is installed.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import * as idlest from '../../dist/index.js'
import { engines } from '../support/engines.js'
import { type Block, placeOf } from './blocks.js'
import type { Example } from './examples.js'
import { inWorld, TOKEN, type World } from './world.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SLOW_POLL = /^\(node:\d+\) \[IDLEST_POLL_EXIT\] .* no answer within \d+ ms\n/gm
const TRACE_HINT = '(Use `node --trace-warnings ...` to show where the warning was created)\n'
const BESIDE = ['stand-ins', 'run-example']
/** Longest time that an example may take, ms: far more than any does. */
const DEADLINE = 60_000

// What the README tells users of TypeScript to have, and no more.
const tsconfig = {
  compilerOptions: {
    target: 'es2022',
    lib: ['es2022', 'esnext.disposable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    allowJs: true,
    checkJs: true,
    outDir: 'out',
    rootDir: '.',
    noEmitOnError: false,
  },
  include: ['*.mts', '*.mjs'],
}

/** What a block is called among the compiled ones; the compiler leaves out what begins with a dot. */
function nameOf({ file, line }: Block): string {
  return `${file.replace(/^\./, '').replaceAll('/', '-')}-${line}`
}

// Examples leave out imports that the text around them has made plain.
function importsFor(text: string): string {
  const names = Object.keys(idlest).filter(
    (name) =>
      new RegExp(`(?<![.\\w])${name}\\(`).test(text) && !new RegExp(`import [^;'"]*\\b${name}\\b`).test(text),
  )
  return `import assert from 'node:assert/strict'; import { ${names.join(', ')} } from 'idlest'; import { answer, heard, until, worked } from './stand-ins.mjs';`
}

/** Examples that have been compiled, and how they run. */
export class CompiledExamples {
  /** What the compiler says is wrong; empty where nothing is. */
  readonly errors: string
  readonly #folder: string
  readonly #world: World

  private constructor(folder: string, errors: string, world: World) {
    this.#folder = folder
    this.errors = errors
    this.#world = world
  }

  /** Removed when the test ends. */
  static async make(
    t: ExecutionContext,
    examples: readonly (readonly [Block, Example])[],
    world: World,
  ): Promise<CompiledExamples> {
    const folder = mkdtempSync(join(tmpdir(), 'idlest-docs-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    install(folder)
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
    for (const name of BESIDE) {
      copyFileSync(new URL(`${name}.mts`, import.meta.url), join(folder, `${name}.mts`))
    }
    for (const [block, { comesTo = '' }] of examples) {
      // So that lines of errors are those of the document.
      const before = importsFor(`${block.text}${comesTo}`) + '\n'.repeat(block.line - 1)
      const extension = block.language === 'js' ? 'mjs' : 'mts'
      writeFileSync(
        join(folder, `${nameOf(block)}.${extension}`),
        `${before}${inWorld(`${block.text}${comesTo}`, world)}\nexport {}\n`,
      )
    }
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const errors = await new Promise<string>((resolve) => {
      execFile(process.execPath, [tsc, '-p', folder], { cwd: folder }, (error, stdout, stderr) => {
        resolve(error === null ? '' : stdout + stderr || error.message)
      })
    })
    return new CompiledExamples(folder, errors, world)
  }

  /** Runs so many at a time; gives what went wrong with each, in their order. */
  async runAll(examples: readonly (readonly [Block, Example])[], atOnce: number): Promise<string[]> {
    const wrong: string[] = []
    const left = examples.entries()
    const one = async () => {
      for (const [i, [block, example]] of left) wrong[i] = await this.run(block, example)
    }
    await Promise.all(Array.from({ length: atOnce }, one))
    return wrong
  }

  /**
   * Runs one in a process of its own.
   * @returns what it wrote to stderr, and its exit code where that is not 0; empty where all went well
   */
  async run(block: Block, { inThread, until, comesTo = '' }: Example): Promise<string> {
    const { NODE_OPTIONS: _, ...env } = process.env
    const args = ['run-example.mjs', nameOf(block), ...(inThread ? ['worker'] : [])]
    // Where there is only the portable engine, it says so each time, but where it is asked for.
    if (!engines.includes('native')) env.IDLEST_ENGINE = 'portable'
    const words = [...new Set(`${block.text}${comesTo}`.match(/\w+/g))]
    const given = JSON.stringify({ token: TOKEN, nodes: this.#world.nodes, words })
    const child = spawn(process.execPath, args, {
      cwd: join(this.#folder, 'out'),
      env: { ...env, IDLEST_TOKEN: TOKEN, IDLEST_EXAMPLES: given },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: DEADLINE,
      killSignal: 'SIGKILL',
    })
    let [said, wrong, enough] = ['', '', false]
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (until?.test(said)) {
        enough = true
        child.kill('SIGKILL')
      }
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      wrong += text
    })
    const [code, signal] = await once(child, 'close')
    // A machine that is busy enough answers no poll in time, and the example goes on to its end all the same.
    wrong = wrong.replace(SLOW_POLL, '')
    if (wrong.startsWith(TRACE_HINT)) wrong = wrong.slice(TRACE_HINT.length)
    if (enough) return wrong
    if (code !== 0 || until !== undefined)
      wrong += `\n${placeOf(block)} ended with ${code ?? signal}; ${said}`
    return wrong
  }
}

// By links: what is installed here is what a user would have installed.
function install(folder: string): void {
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (!name.startsWith('.')) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name), 'junction')
  }
  symlinkSync(ROOT, join(modules, 'idlest'), 'junction')
}
