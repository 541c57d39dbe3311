import test, { type ExecutionContext } from 'ava'
import { said } from './outcome.js'
import { Project, programText } from './project.js'
import { tool } from './tools.js'

const PEERS = ['@grpc/grpc-js', '@nats-io/transport-node', '@opentelemetry/api', 'prom-client']

interface Case {
  /** The file that has the program; its suffix and the package's type say of which kind it is. */
  readonly file: string
  readonly options: object
  /** Whether what is emitted runs as it is. */
  readonly runs: boolean
}

const CASES: readonly Case[] = [
  ...['node16', 'nodenext'].flatMap((module) =>
    ['program.mts', 'program.cts'].map((file) => ({ file, options: { module }, runs: true })),
  ),
  { file: 'program.cts', options: { module: 'node18' }, runs: true },
  { file: 'program.cts', options: { module: 'node20' }, runs: true },
  { file: 'program.ts', options: { module: 'esnext', moduleResolution: 'bundler' }, runs: false },
  { file: 'program.ts', options: { module: 'preserve' }, runs: false },
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

/** Compiles a program in each way, and runs it where it can be; gives what the compiler and the runs said of each. */
async function compile(
  t: ExecutionContext,
  project: Project,
  typescript: string,
  program: string,
  more: object = {},
) {
  const results: Record<string, string> = {}
  for (const { file, options, runs } of CASES) {
    await project.remove('out')
    await project.write(file, programText(program))
    await project.write(
      'tsconfig.json',
      JSON.stringify({ compilerOptions: { ...COMMON, ...more, ...options }, files: [file] }),
    )
    const compiled = await project.run([process.execPath, tool(typescript, 'tsc'), '--pretty', 'false'])
    const name = `${JSON.stringify(options)} ${file}`
    results[name] = compiled.stdout + compiled.stderr
    if (compiled.code === 0 && runs) {
      const ran = await project.node(`out/${file.replace('ts', 'js')}`)
      results[name] += ran.stdout + ran.stderr
    }
    t.is(compiled.code, 0, `${name}: ${compiled.stdout}`)
  }
  return results
}

function expected(runs: string): Record<string, string> {
  return Object.fromEntries(
    CASES.map(({ file, options, runs: ran }) => [`${JSON.stringify(options)} ${file}`, ran ? runs : '']),
  )
}

for (const typescript of ['typescript-5', 'typescript-7']) {
  test(`${typescript}: programs of both kinds compile in each way of resolving modules, and run`, async (t) => {
    const project = await Project.make(t)
    await project.npm('install', 'idlest', '@types/node@20')
    // Not all of those that it plugs into have declarations that are right under it.
    const strictest = { exactOptionalPropertyTypes: true }
    t.deepEqual(
      await compile(t, project, typescript, 'typed.ts', strictest),
      expected('IDLEST_BAD_OPTION true true\n'),
    )
  })

  test(`${typescript}: what others are plugged into compiles where they are installed, and runs`, async (t) => {
    const project = await Project.make(t)
    await project.npm('install', 'idlest', '@types/node@20', ...PEERS)
    t.deepEqual(await compile(t, project, typescript, 'plugged.ts'), expected('true 2 false\n'))
  })
}

test('what others are plugged into is imported without them, and says what to install when it is used', async (t) => {
  const project = await Project.make(t)
  await project.npm('install', 'idlest')
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
