import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { addonFacts, problemsOf } from '../../.ci/package/addon.mjs'
import { type Checked, guard } from '../../.ci/package/guard.mjs'
import { temporaryFolder } from '../ci/folder.js'
import { elf } from '../support/elf.js'

const run = promisify(execFile)

/** A library for macOS: its header. */
function machO(cpu: number): Buffer {
  const bytes = Buffer.alloc(64)
  bytes.writeUInt32LE(0xfeedfacf, 0)
  bytes.writeUInt32LE(cpu, 4)
  return bytes
}

/** A library for Windows: its headers. */
function portableExecutable(machine: number): Buffer {
  const bytes = Buffer.alloc(256)
  bytes.write('MZ', 0, 'latin1')
  bytes.writeUInt32LE(128, 60)
  bytes.write('PE\0\0', 128, 'latin1')
  bytes.writeUInt16LE(machine, 132)
  return bytes
}

function linked(machine: number, ...versions: string[]): Buffer {
  const names = versions.map((version) => `GLIBC_${version}\0`).join('')
  return Buffer.concat([elf({ machine }), Buffer.from(names, 'latin1')])
}

test('a library is told by its own bytes', (t) => {
  t.deepEqual(addonFacts(linked(62)), { platform: 'linux', arch: 'x64', glibc: undefined })
  t.deepEqual(addonFacts(linked(183, '2.17')), { platform: 'linux', arch: 'arm64', glibc: '2.17' })
  t.is(addonFacts(linked(62, '2.2.5', '2.34', '2.4', '2.17')).glibc, '2.34')
  t.is(addonFacts(linked(40)).arch, 'machine 40')
  t.deepEqual(addonFacts(machO(0x01000007)), { platform: 'darwin', arch: 'x64' })
  t.deepEqual(addonFacts(machO(0x0100000c)), { platform: 'darwin', arch: 'arm64' })
  t.deepEqual(addonFacts(portableExecutable(0x8664)), { platform: 'win32', arch: 'x64' })
  t.deepEqual(addonFacts(portableExecutable(0xaa64)), { platform: 'win32', arch: 'arm64' })
  for (const bytes of [Buffer.alloc(0), Buffer.from('MZ'), Buffer.from('not an addon'), Buffer.alloc(64)]) {
    t.is(addonFacts(bytes).platform, 'unknown')
  }
})

test('what a library needs is what every system has, and on glibc it stays loaded', (t) => {
  const line = (name: string) => ` 0x0000000000000001 (NEEDED)             Shared library: [${name}]\n`
  const stays = ' 0x000000006ffffffb (FLAGS_1)            Flags: NOW NODELETE\n'
  const glibc = [
    'libgcc_s.so.1',
    'libc.so.6',
    'ld-linux-x86-64.so.2',
    'libpthread.so.0',
    'ld-linux-aarch64.so.1',
  ]
  t.deepEqual(problemsOf(glibc.map(line).join('') + stays), [])
  t.deepEqual(problemsOf(['libgcc_s.so.1', 'libc.musl-x86_64.so.1', 'libc.so'].map(line).join('')), [])
  t.deepEqual(problemsOf(line('libc.so.6') + line('libssl.so.3') + stays), ['needs libssl.so.3'])
  t.deepEqual(problemsOf(line('libc.so.6')), ['can be unloaded: it is not linked with -z nodelete'])
  t.deepEqual(problemsOf('There is no dynamic section in this file.'), [])
})

/** What the guard says of a package with these files. */
async function guarded(
  t: ExecutionContext,
  manifest: Record<string, unknown>,
  files: Record<string, string | Buffer>,
  options?: { glibc: string },
): Promise<Checked> {
  const folder = temporaryFolder(t)
  const whole = { name: 'idlest', version: '1.2.3', license: 'MIT', type: 'module', ...manifest }
  for (const [path, content] of Object.entries({ 'package.json': JSON.stringify(whole), ...files })) {
    mkdirSync(dirname(join(folder, 'package', path)), { recursive: true })
    writeFileSync(join(folder, 'package', path), content, { mode: path.includes('cli') ? 0o755 : 0o644 })
  }
  const file = join(folder, 'packed.tgz')
  await run('tar', ['-czf', file, '-C', folder, 'package'])
  return guard({ name: String(whole.name), file }, options)
}

const main = { exports: { '.': './dist/index.js' }, files: ['dist'] }

test('a package that is as it must be has no problems', async (t) => {
  const { problems, files, size, unpacked } = await guarded(t, main, {
    'dist/index.js': 'export const one = 1\n',
  })
  t.deepEqual(problems, [])
  t.is(files, 2)
  t.true(size > 0 && unpacked > 0)
})

test('what no user needs is found', async (t) => {
  const unwanted = [
    ...[
      'dist/index.js.map',
      'dist/.tsbuildinfo',
      'dist/.built.json',
      'test/a.js',
      'dist/a.test.js',
      'src/a.js',
    ],
    ...['dist/a.ts', 'binding.gyp', 'dist/debug.log'],
  ]
  const files = Object.fromEntries(unwanted.map((path) => [path, '']))
  const { problems } = await guarded(t, main, { 'dist/index.js': 'export const one = 1\n', ...files })
  for (const path of unwanted) t.true(problems.includes(`holds ${path}`), `${path}: ${problems}`)
  const named = await guarded(t, main, {
    'dist/index.js': 'export const one = 1\n//# sourceMappingURL=index.js.map\n',
  })
  t.deepEqual(named.problems, ['dist/index.js names a source map'])
})

test('a package that weighs too much is refused', async (t) => {
  let seed = 1
  const noise = Buffer.from(
    Array.from({ length: 500_000 }, () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed & 255
    }),
  )
  const { problems } = await guarded(t, main, {
    'dist/index.js': 'export const one = 1\n',
    'dist/noise.bin': noise,
  })
  t.regex(problems.join(), /^weighs \d{6} bytes: 400000 are allowed$/)
})

test('scripts that run on installation, and what belongs to the clone, are found in package.json', async (t) => {
  const { problems } = await guarded(
    t,
    {
      ...main,
      scripts: { postinstall: 'node x.js', test: 'ava' },
      devDependencies: {},
      private: true,
      optionalDependencies: { '@idlest/pages': '1.2.2', '@idlest/binding-darwin-x64': '^1.2.3' },
    },
    { 'dist/index.js': 'export const one = 1\n' },
  )
  for (const problem of [
    'its package.json has devDependencies',
    'its package.json has private',
    'runs a script when it is installed: postinstall',
    'depends on @idlest/pages 1.2.2, not on 1.2.3',
    'depends on @idlest/binding-darwin-x64 ^1.2.3, not on 1.2.3',
  ]) {
    t.true(problems.includes(problem), problem)
  }
})

test('files that are named and not there are found, wherever they are named', async (t) => {
  const { problems } = await guarded(
    t,
    {
      ...main,
      exports: {
        ...main.exports,
        './deep': { require: { types: './dist/none.d.cts', default: './dist/none.cjs' } },
      },
      bin: { idlest: './dist/cli/none.js' },
      sideEffects: ['./dist/gone.js'],
    },
    { 'dist/index.js': "import './absent.js'\n", 'dist/index.d.ts': "export * from './types.js'\n" },
  )
  for (const path of ['./dist/none.d.cts', './dist/none.cjs', './dist/cli/none.js', './dist/gone.js']) {
    t.true(problems.includes(`its package.json names ${path}, which is not there`), path)
  }
  t.true(
    problems.some((problem) => problem.includes('"./absent.js"')),
    problems.join('\n'),
  )
  t.true(problems.includes('dist/index.d.ts imports ./types.js, which is not there'))
})

test('packages that are imported and not depended on are found', async (t) => {
  const { problems } = await guarded(
    t,
    { ...main, dependencies: { yaml: '2' }, peerDependencies: { '@scope/peer': '1' } },
    {
      'dist/index.js':
        "import 'yaml'\nimport 'node:fs'\nimport '@scope/peer/deep.js'\nimport '@scope/other'\n",
      'dist/index.d.ts': "/** import 'comment' */\nexport type A = import('types').A\nexport {};\n",
    },
  )
  t.true(problems.includes('dist/index.js imports @scope/other, which it does not depend on'))
  t.true(problems.includes('dist/index.d.ts imports types, which it does not depend on'))
  t.is(problems.filter((problem) => problem.includes('does not depend on')).length, 2, problems.join('\n'))
})

test('types that CommonJS programs can not use are found', async (t) => {
  const exports = { '.': { types: './dist/index.d.ts', default: './dist/index.js' } }
  const { problems } = await guarded(
    t,
    { ...main, exports },
    { 'dist/index.js': 'export const one = 1\n', 'dist/index.d.ts': 'export declare const one: number\n' },
  )
  t.regex(problems.join(), /^attw: .*CJSResolvesToESM/)
})

const binding = (target: string, fields: Record<string, unknown>) => ({
  name: `@idlest/binding-${target}`,
  type: 'commonjs',
  main: `idlest.${target}.node`,
  files: [`idlest.${target}.node`],
  ...fields,
})

test('an addon is for the system that its package is for', async (t) => {
  const addons: [string, Record<string, unknown>, Buffer, RegExp | undefined][] = [
    ['linux-x64-gnu', { os: ['linux'], cpu: ['x64'], libc: ['glibc'] }, linked(62, '2.17'), undefined],
    ['linux-arm64-musl', { os: ['linux'], cpu: ['arm64'], libc: ['musl'] }, linked(183), undefined],
    ['darwin-arm64', { os: ['darwin'], cpu: ['arm64'] }, machO(0x0100000c), undefined],
    ['win32-x64-msvc', { os: ['win32'], cpu: ['x64'] }, portableExecutable(0x8664), undefined],
    [
      'linux-arm64-gnu',
      { os: ['linux'], cpu: ['arm64'], libc: ['glibc'] },
      linked(62, '2.17'),
      /is for linux x64/,
    ],
    [
      'linux-x64-musl',
      { os: ['linux'], cpu: ['x64'], libc: ['musl'] },
      linked(62, '2.17'),
      /asks for glibc 2\.17/,
    ],
    ['linux-x64-gnu', { os: ['linux'], cpu: ['x64'], libc: ['glibc'] }, linked(62), /asks for no glibc/],
    ['darwin-x64', { os: ['darwin'], cpu: ['x64'] }, Buffer.from('not an addon'), /is for unknown/],
  ]
  for (const [target, fields, addon, problem] of addons) {
    const { problems } = await guarded(t, binding(target, fields), { [`idlest.${target}.node`]: addon })
    if (problem === undefined) t.deepEqual(problems, [], target)
    else t.regex(problems.join(), problem, target)
  }
})

test('the glibc that an addon asks for is told, and held against what is allowed', async (t) => {
  const manifest = binding('linux-x64-gnu', { os: ['linux'], cpu: ['x64'], libc: ['glibc'] })
  const files = { 'idlest.linux-x64-gnu.node': linked(62, '2.2.5', '2.28') }
  const told = await guarded(t, manifest, files)
  t.deepEqual([told.glibc, told.problems], ['2.28', []])
  t.deepEqual((await guarded(t, manifest, files, { glibc: '2.28' })).problems, [])
  const { problems } = await guarded(t, manifest, files, { glibc: '2.17' })
  t.deepEqual(problems, ['idlest.linux-x64-gnu.node asks for glibc 2.28: 2.17 is the newest allowed'])
})
