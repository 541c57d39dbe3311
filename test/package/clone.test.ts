import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs a program that imports the package by name, as its users do. */
async function program(name: string, source: string): Promise<{ stdout: string; stderr: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'idlest-'))
  const modules = join(folder, 'node_modules')
  await writeFile(join(folder, name), source)
  // Without one Deno looks for no packages here.
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  await mkdir(modules)
  await symlink(root, join(modules, 'idlest'), 'junction')
  return run(process.execPath, [join(folder, name)], { cwd: folder })
}

test('a CommonJS program uses it without a warning, and shares it with what imports it', async (t) => {
  const { stdout, stderr } = await program(
    'program.cjs',
    `const idlest = require('idlest')
     const { select } = idlest
     console.log(['a', 'b'].includes(select(['a', 'b'])))
     import('idlest').then((imported) => console.log(imported.select === select))`,
  )
  t.is(stdout, 'true\ntrue\n')
  t.is(stderr, '')
})

test('an ESM program with a polling balancer ends by itself when its own work is done', async (t) => {
  const { stdout } = await program(
    'program.mjs',
    `import { createBalancer, configure, select } from 'idlest'
     const poll = { port: 9, startupJitter: 0, interval: 10 }
     const balancer = createBalancer({ nodes: ['127.0.0.1:9', 'b'], self: 'me', poll })
     await configure({ poll })
     balancer.handle()
     balancer.report('b', { cpu: 10 })
     select(['127.0.0.1:9'])
     await balancer.ready()
     console.log(balancer.select())`,
  )
  t.regex(stdout, /^(127\.0\.0\.1:9|b|me)\n$/)
})

test('exporters of metrics are imported by their own paths, from ESM and CommonJS, and the dashboard by its', async (t) => {
  const { stdout, stderr } = await program(
    'program.cjs',
    `const { createBalancer } = require('idlest')
     const { collectBalancer } = require('idlest/prometheus')
     const { title } = require('idlest/grafana/dashboard.json')
     const balancer = createBalancer({ nodes: ['a'], poll: false })
     collectBalancer(balancer)
     import('idlest/opentelemetry').then(({ instrumentBalancer }) => {
       instrumentBalancer(balancer).close()
       console.log(title)
     })`,
  )
  t.is(stdout, 'idlest\n')
  t.is(stderr, '')
})

/** The files that some come to import, and how they name what is in none of them. */
async function importsOf(
  files: URL[],
  statement: RegExp,
): Promise<{ files: Set<string>; names: Set<string> }> {
  const found = { files: new Set<string>(), names: new Set<string>() }
  const visit = async (file: URL): Promise<void> => {
    if (found.files.has(file.href)) return
    found.files.add(file.href)
    for (const [, name = ''] of (await readFile(file, 'utf8')).matchAll(statement)) {
      if (name.startsWith('.')) await visit(new URL(name, file))
      else found.names.add(name)
    }
  }
  for (const file of files) await visit(file)
  return found
}

test('the portable engine imports nothing of Node.js', async (t) => {
  const folder = new URL('../../dist/engine/portable/', import.meta.url)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.js'))
  const modules = names.map((name) => new URL(name, folder))
  const { files, names: others } = await importsOf(modules, /(?:from|import) ?\(?['"]([^'"]+)['"]/g)
  // Options are checked by packages that run anywhere.
  t.deepEqual([...others].filter(isBuiltin), [])
  t.true(files.size >= 6)
})

test('what installs the packages begins without them', async (t) => {
  const scripts = ['prepare', 'package/main'].map((name) => new URL(`../../.ci/${name}.mjs`, import.meta.url))
  const { files, names } = await importsOf(scripts, /^import .*?['"]([^'"]+)['"]$/gm)
  t.true(files.size > 8)
  t.deepEqual(
    [...names].filter((name) => !name.startsWith('node:')),
    [],
  )
})
