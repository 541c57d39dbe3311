import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { npmCommand } from '../../.ci/process.mjs'
import { execute, type Ran } from './execute.js'
import { homeEnvironment } from './settings.js'
import { tool } from './tools.js'
import { world } from './world.js'

const programs = new URL('programs/', import.meta.url)

/** Text of one of the programs that are tried in every project. */
export function programText(name: string): string {
  return readFileSync(new URL(name, programs), 'utf8')
}

/** What the lock file of npm says of one package. */
interface Locked {
  readonly hasInstallScript?: boolean
  readonly os?: readonly string[]
}

/** A folder of a user's, who begins with nothing but a package.json. */
export class Project {
  readonly folder: string
  readonly #t: ExecutionContext
  readonly #env: Record<string, string>

  private constructor(t: ExecutionContext, folder: string, env: Record<string, string>) {
    this.#t = t
    this.folder = folder
    this.#env = env
  }

  /** One that is there. */
  static at(t: ExecutionContext, folder: string): Project {
    return new Project(t, folder, homeEnvironment(world.home))
  }

  /** Makes one that is removed when the test ends. `manifest` is put into its package.json. */
  static async make(t: ExecutionContext, manifest: object = {}): Promise<Project> {
    const folder = await mkdtemp(join(tmpdir(), 'idlest-user-'))
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    const project = Project.at(t, folder)
    await project.write('package.json', JSON.stringify({ name: 'user', version: '1.0.0', ...manifest }))
    return project
  }

  /** Writes a file, and the folders that it is in. */
  async write(file: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.folder, file)), { recursive: true })
    await writeFile(join(this.folder, file), text)
  }

  async remove(path: string): Promise<void> {
    await rm(join(this.folder, path), { recursive: true, force: true })
  }

  /** Puts programs into it that are tried in every project. */
  async take(...names: string[]): Promise<void> {
    for (const name of names) await this.write(name, programText(name))
  }

  has(path: string): boolean {
    return existsSync(join(this.folder, path))
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8')
  }

  /** What a folder has, sorted; nothing where there is none. */
  list(path: string): string[] {
    return this.has(path) ? readdirSync(join(this.folder, path)).sort() : []
  }

  /** Packages in npm's lock file, by their place. */
  locked(): Record<string, Locked> {
    return JSON.parse(this.read('package-lock.json')).packages
  }

  /** Runs a program in it to its end, whatever that is. */
  run(command: readonly [string, ...string[]], env: Record<string, string> = {}): Promise<Ran> {
    return execute(command, this.folder, { ...this.#env, ...env })
  }

  /** Runs a program in it, that must succeed. */
  async succeed(command: readonly [string, ...string[]], env?: Record<string, string>): Promise<Ran> {
    const ran = await this.run(command, env)
    this.#t.is(ran.code, 0, `${command.join(' ')}\n${ran.stdout}${ran.stderr}`)
    return ran
  }

  npm(...args: string[]): Promise<Ran> {
    return this.succeed([...npmCommand(), ...args])
  }

  /** `npx` of what is installed; it asks no registry. */
  npxCommand(...args: string[]): [string, ...string[]] {
    return [...npmCommand(), 'exec', '--offline', '--', ...args] as [string, ...string[]]
  }

  npx(...args: string[]): Promise<Ran> {
    return this.succeed(this.npxCommand(...args))
  }

  /** Starts one of its files with node; whoever starts it ends it. */
  start(file: string, ...args: string[]) {
    return spawn(process.execPath, [file, ...args], {
      cwd: this.folder,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  }

  pnpm(...args: string[]): Promise<Ran> {
    return this.succeed([process.execPath, join(dirname(tool('pnpm', 'pnpm')), 'bin/pnpm.mjs'), ...args], {
      npm_config_registry: world.registry,
    })
  }

  yarn(...args: string[]): Promise<Ran> {
    return this.succeed([process.execPath, tool('@yarnpkg/cli-dist', 'yarn'), ...args])
  }

  /** Runs one of its files with node. */
  node(file: string, env?: Record<string, string>): Promise<Ran> {
    return this.succeed([process.execPath, file], env)
  }
}
