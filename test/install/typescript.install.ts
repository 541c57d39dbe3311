import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { said } from './outcome.js'
import { Project, programText } from './project.js'
import { tool } from './tools.js'

const PEERS = ['@grpc/grpc-js', '@nats-io/transport-node', '@opentelemetry/api', 'prom-client']

interface Case {
  /** What the file of a program ends with, which says of which kind it is. */
  readonly suffix: string
  readonly options: object
  /** Whether what is emitted runs as it is. */
  readonly runs: boolean
}

const CASES: readonly Case[] = [
  ...['node16', 'nodenext'].flatMap((module) =>
    ['mts', 'cts'].map((suffix) => ({ suffix, options: { module }, runs: true })),
  ),
  { suffix: 'cts', options: { module: 'node18' }, runs: true },
  { suffix: 'cts', options: { module: 'node20' }, runs: true },
  { suffix: 'ts', options: { module: 'esnext', moduleResolution: 'bundler' }, runs: false },
  { suffix: 'ts', options: { module: 'preserve' }, runs: false },
]

/** Strict, and with the declarations of packages checked too. */
const COMMON = {
  target: 'es2022',
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  types: ['node'],
  outDir: 'out',
}

// Installed once, for all cases.
const folders = new Map<string, Promise<string>>()

async function projectWith(t: ExecutionContext, packages: readonly string[]): Promise<Project> {
  const name = packages.join()
  const made = folders.get(name) ?? install(t, packages)
  folders.set(name, made)
  return Project.at(t, await made)
}

async function install(t: ExecutionContext, packages: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'idlest-typed-'))
  await writeFile(join(folder, 'package.json'), '{ "name": "user" }')
  await Project.at(t, folder).npm('install', 'idlest', '@types/node@20', ...packages)
  return folder
}

test.after.always(async () => {
  for (const folder of folders.values()) await rm(await folder, { recursive: true, force: true })
})

/** Compiles these programs, which must succeed; gives what they say, where they run. */
async function compile(
  t: ExecutionContext,
  project: Project,
  typescript: string,
  { suffix, options, runs }: Case,
  programs: readonly string[],
): Promise<string[]> {
  await project.remove('out')
  const files = programs.map((name) => `${name}.${suffix}`)
  for (const [i, name] of programs.entries())
    await project.write(files[i] as string, programText(`${name}.ts`))
  const compilerOptions = { ...COMMON, ...options }
  await project.write('tsconfig.json', JSON.stringify({ compilerOptions, files }))
  const tsc = [process.execPath, tool(typescript, 'tsc'), '--pretty', 'false'] as const
  t.is((await project.succeed(tsc)).stdout, '')
  if (!runs) return []
  const said: string[] = []
  for (const file of files) said.push((await project.node(`out/${file.replace('ts', 'js')}`)).stdout)
  return said
}

for (const typescript of ['typescript-5', 'typescript-7']) {
  for (const each of CASES) {
    const { suffix, options, runs } = each
    const how = runs ? 'compile and run' : 'compile'
    test(`${typescript}: programs in .${suffix} ${how} with ${JSON.stringify(options)}`, async (t) => {
      const project = await projectWith(t, PEERS)
      const heard = await compile(t, project, typescript, each, ['typed', 'plugged'])
      t.deepEqual(heard, runs ? ['IDLEST_BAD_OPTION true true\n', 'true 2 false\n'] : [])
    })
  }

  for (const suffix of ['mts', 'cts']) {
    test(`${typescript}: programs in .${suffix} compile without optional packages, with all that is strict`, async (t) => {
      const project = await projectWith(t, [])
      const options = { module: 'nodenext', exactOptionalPropertyTypes: true }
      const heard = await compile(t, project, typescript, { suffix, options, runs: true }, ['typed'])
      t.deepEqual(heard, ['IDLEST_BAD_OPTION true true\n'])
    })
  }
}

test('what others are plugged into is imported without them, and says what to install when it is used', async (t) => {
  const project = await projectWith(t, [])
  await project.take('unplugged.mjs')
  const { undici, ...others } = said<Record<string, string>>(await project.node('unplugged.mjs'))
  t.is(undici, 'works')
  const packages = {
    grpc: '@grpc/grpc-js',
    opentelemetry: '@opentelemetry/api',
    prometheus: 'prom-client',
    orcaTransport: '@grpc/grpc-js',
    natsTransport: '@nats-io/transport-node',
    agent: '@grpc/grpc-js',
  }
  t.deepEqual(Object.keys(others), Object.keys(packages))
  for (const [use, name] of Object.entries(packages)) {
    t.regex(others[use] ?? '', new RegExp(`^IDLEST_\\w+: .*${name}.*npm install ${name}`), use)
  }
})
