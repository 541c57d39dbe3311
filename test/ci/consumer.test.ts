// The published declarations, as programs find them that have the package and not much else.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { declarations, withoutNeed } from '../../.ci/api/declarations.mjs'
import { exportsOf } from '../../.ci/api/report.mjs'
import { temporaryFolder } from './folder.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const PEERS = ['@grpc/grpc-js', '@nats-io/transport-node', '@opentelemetry/api', 'prom-client']

/** Compiles a program under the strictest options; gives what the compiler says. */
async function compiled(t: ExecutionContext, program: string, packages: readonly string[]): Promise<string> {
  t.timeout(180_000)
  const types = packages.filter((name) => name.startsWith('@types/')).map((name) => name.slice(7))
  const folder = temporaryFolder(t, {
    'package.json': '{ "type": "module" }',
    'program.ts': program,
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        target: 'es2022',
        module: 'nodenext',
        types,
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noPropertyAccessFromIndexSignature: true,
        skipLibCheck: false,
        noEmit: true,
      },
    }),
  })
  const installed = join(folder, 'node_modules')
  mkdirSync(join(installed, 'idlest'), { recursive: true })
  cpSync(await declarations(root), join(installed, 'idlest/dist'), { recursive: true })
  cpSync(join(root, 'package.json'), join(installed, 'idlest/package.json'))
  for (const name of packages) {
    mkdirSync(dirname(join(installed, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(installed, name), 'dir')
  }
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, '-p', folder], { cwd: folder }, (error, stdout, stderr) => {
      resolve(error === null ? '' : stdout + stderr || error.message)
    })
  })
}

const MAIN = `
import { createAgent, createBalancer, httpTransport, leastCpu, select, type Lease, type Table } from 'idlest'

const balancer = createBalancer({ nodes: [{ id: 'a', zone: 1 }], algorithm: leastCpu(), poll: { transport: httpTransport() } })
const zone: number = balancer.select().zone
const picked: 'a' | 'b' = select(['a', 'b'] as const)
using lease: Lease<{ id: string; zone: number }> = balancer.acquire()
lease.release({ ok: true })
await using agent = await createAgent()
export const told: number | undefined = agent.report()?.cpu
export const size = (table: Table): number => table.size
export { picked, zone }
`

test('a program needs neither @types/node nor the peers', async (t) => {
  const others = "import 'idlest/prometheus'\nimport 'idlest/opentelemetry'\nimport 'idlest/grpc'\n"
  t.is(await compiled(t, others + MAIN, []), '')
})

test('with @types/node and without the peers, all entry points pass', async (t) => {
  const program = `
import { createBalancer } from 'idlest'
import { registerIdlestPolicies } from 'idlest/grpc'
import { instrumentBalancer } from 'idlest/opentelemetry'
import { collectBalancer } from 'idlest/prometheus'
import { BalancedDispatcher } from 'idlest/undici'

const balancer = createBalancer({ nodes: ['10.0.0.1:8080'] })
registerIdlestPolicies()
using instrumented = instrumentBalancer(balancer)
using collected = collectBalancer(balancer)
const response = await fetch('http://any/', { dispatcher: new BalancedDispatcher(balancer) } as RequestInit)
export { collected, instrumented, response }
`
  t.is(await compiled(t, program, ['@types/node', 'undici']), '')
})

test("with the peers, their types are the peers' own", async (t) => {
  const program = `
import * as grpc from '@grpc/grpc-js'
import { createServer } from 'node:http'
import { Registry } from 'prom-client'
import { createAgent, createBalancer, grpcInterceptor, httpMiddleware } from 'idlest'
import { registerIdlestPolicies } from 'idlest/grpc'
import { collectBalancer, type CollectOptions } from 'idlest/prometheus'

const agent = await createAgent()
registerIdlestPolicies(grpc, { onBalancer: (one) => one.name })
const server = new grpc.Server({ interceptors: [grpcInterceptor(agent, grpc)] })
createServer(httpMiddleware(agent, (request, response) => response.end(request.url)))
collectBalancer(createBalancer({ poll: false }), { registry: new Registry() })
// @ts-expect-error: a registry is one of prom-client's
export const wrong: CollectOptions = { registry: 5 }
export { server }
`
  t.is(await compiled(t, program, ['@types/node', ...PEERS]), '')
})

test('whatever need not be given may be given as undefined', async (t) => {
  const report = readFileSync(join(root, '.github/api/idlest.api.md'), 'utf8')
  const names = exportsOf(report).filter((name) => /(Options|Settings)$/.test(name))
  t.true(names.length > 40)
  const given = [...names, 'Outcome', 'Report', 'Ranked', 'ServerTls'].sort()
  const program = `
import type { ${given.join(', ')} } from 'idlest'

type Optional<T> = { [K in keyof T]-?: Partial<Pick<T, K>> extends Pick<T, K> ? K : never }[keyof T]
type Unset<T> = { readonly [K in Optional<T>]: undefined }
/** The names that refuse it. */
type Refuses<T> = { [K in Optional<T>]: Unset<T> extends Pick<T, K> ? never : K }[Optional<T>]

export const refused: { ${given.map((name) => `${name}?: Refuses<${name}>`).join('; ')} } = {}
type All = Required<typeof refused>
const none: [All[keyof All]] extends [never] ? true : All = true
export { none }
`
  t.is(await compiled(t, program, ['@types/node']), '')
})

test('nothing that is internal can be seen', async (t) => {
  const program = `
import { createBalancer, createTable, httpTransport } from 'idlest'

export const seen = {
  // @ts-expect-error: what a balancer is made of
  members: createBalancer({ poll: false }).members,
  // @ts-expect-error: what pollers call
  told: createBalancer({ poll: false }).told,
  // @ts-expect-error: the memory of a table
  memory: createTable().memory,
  // @ts-expect-error: options as they were checked
  settings: httpTransport().settings,
}
`
  t.is(await compiled(t, program, ['@types/node']), '')
})

test('what is imported from Node.js or a peer may be missing, and nothing else', (t) => {
  const text =
    "import { a } from 'node:dns';\nimport * as b from '@scope/peer';\nimport { c } from 'undici';\n"
  t.is(
    withoutNeed(text, ['@scope/peer']),
    "// @ts-ignore\nimport { a } from 'node:dns';\n// @ts-ignore\nimport * as b from '@scope/peer';\nimport { c } from 'undici';\n",
  )
})
