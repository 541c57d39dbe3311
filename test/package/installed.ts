import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'

const run = promisify(execFile)

/** What came of a program. */
export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A package.json, as far as it is looked at. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports: Record<string, string | { default: string; require: { default: string } }>
  readonly dependencies: Record<string, string>
  readonly optionalDependencies: Record<string, string>
  readonly [field: string]: unknown
}

/** The package.json in a folder. */
export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** Unpacks a tarball as an installed package of a folder. */
async function unpack(folder: string, { name, file }: { name: string; file: string }): Promise<string> {
  const place = join(folder, 'node_modules', name)
  const scratch = mkdtempSync(join(folder, 'unpacked-'))
  await run('tar', ['-xzf', file, '-C', scratch])
  mkdirSync(dirname(place), { recursive: true })
  renameSync(join(scratch, 'package'), place)
  rmSync(scratch, { recursive: true })
  return place
}

/** An empty folder that packages are unpacked in, beside what they depend on, which is the clone's. */
export class Installed {
  readonly folder: string

  constructor(t: ExecutionContext) {
    this.folder = mkdtempSync(join(tmpdir(), 'idlest-installed-'))
    t.teardown(() => rmSync(this.folder, { recursive: true, force: true }))
  }

  async add(root: string, packed: readonly { name: string; file: string }[]): Promise<this> {
    for (const one of packed) {
      const { dependencies = {} } = manifestOf(await unpack(this.folder, one))
      for (const name of Object.keys(dependencies)) this.link(root, name)
    }
    return this
  }

  /** Makes a package of the clone's one of this folder. */
  link(root: string, name: string): void {
    const place = join(this.folder, 'node_modules', name)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), place, 'junction')
  }

  write(name: string, text: string): string {
    const path = join(this.folder, name)
    writeFileSync(path, text)
    return path
  }

  /** Runs Node.js here. */
  async node(...args: string[]): Promise<Ran> {
    const env = { ...process.env, NODE_OPTIONS: '', IDLEST_ENGINE: '', IDLEST_BINDING_PATH: '' }
    try {
      return { code: 0, ...(await run(process.execPath, args, { cwd: this.folder, env })) }
    } catch (error) {
      const { code, stdout, stderr } = error as Ran
      return { code, stdout, stderr }
    }
  }

  /** Runs a program that is written here first. */
  program(name: string, text: string): Promise<Ran> {
    return this.node(this.write(name, text))
  }
}
