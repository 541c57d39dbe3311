import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import test from 'ava'
import { ABI } from '../../dist/engine/abi.js'
import { type LoadOptions, loadBinding } from '../../dist/engine/binding.js'
import { elf } from '../support/elf.js'

const folder = mkdtempSync(join(tmpdir(), 'idlest-systems-'))
test.after.always(() => rmSync(folder, { recursive: true, force: true }))

const VERSION = '1.2.3'

/** The published builds. */
const TARGETS = [
  ...['darwin-arm64', 'darwin-x64', 'linux-arm64-gnu', 'linux-arm64-musl'],
  ...['linux-x64-gnu', 'linux-x64-musl', 'win32-arm64-msvc', 'win32-x64-msvc'],
]

/** The node binaries of some systems, by what is read of them. */
const nodes = {
  'Debian bookworm, x64': elf({ interpreter: '/lib64/ld-linux-x86-64.so.2' }),
  'Debian bookworm, arm64': elf({ interpreter: '/lib/ld-linux-aarch64.so.1', machine: 183 }),
  'NixOS, x64': elf({ interpreter: '/nix/store/0abc-glibc-2.40-66/lib/ld-linux-x86-64.so.2' }),
  'Alpine, x64': elf({ interpreter: '/lib/ld-musl-x86_64.so.1' }),
  'Alpine, arm64': elf({ interpreter: '/lib/ld-musl-aarch64.so.1', machine: 183 }),
  'linked statically': elf({}),
}

let made = 0
function nodeOf(system: keyof typeof nodes): string {
  const path = join(folder, `node-${made++}`)
  writeFileSync(path, nodes[system])
  return path
}

interface Fixture {
  version?: string
  /** What its main file is and says; none where undefined. */
  main?: { name: string; content: string }
}

const working = { name: 'addon.cjs', content: `module.exports = { abi: () => ${ABI}, Core: class {} }` }

/** A folder with idlest and these bindings installed, and the file of idlest's that looks for them. */
function project(bindings: Record<string, Fixture>): { from: string; clone: false } {
  const root = join(folder, `project-${made++}`, 'node_modules')
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  for (const [target, { version = VERSION, main }] of Object.entries(bindings)) {
    const name = `@idlest/binding-${target}`
    write(`${name}/package.json`, JSON.stringify({ name, version, main: main?.name ?? 'idlest.node' }))
    if (main !== undefined) write(`${name}/${main.name}`, main.content)
  }
  return { from: pathToFileURL(join(root, 'idlest/dist/own-package.js')).href, clone: false }
}

/** What comes of looking for the addon, as it is told. */
function look(options: LoadOptions): { from?: string; message?: string; reasons?: string[] } {
  const result = loadBinding({ version: VERSION, ...options })
  if (result.kind === 'loaded') return { from: result.from }
  return { message: result.error.message, reasons: result.reasons.map(({ why }) => why) }
}

test('each system loads the build for it, among all that are published', (t) => {
  const all = project(Object.fromEntries(TARGETS.map((target) => [target, { main: working }])))
  const expected: [string, LoadOptions, string][] = [
    ...(
      [
        ['Debian bookworm, x64', 'x64', 'linux-x64-gnu'],
        ['Debian bookworm, arm64', 'arm64', 'linux-arm64-gnu'],
        ['NixOS, x64', 'x64', 'linux-x64-gnu'],
        ['Alpine, x64', 'x64', 'linux-x64-musl'],
        ['Alpine, arm64', 'arm64', 'linux-arm64-musl'],
        ['linked statically', 'x64', 'linux-x64-gnu'],
      ] as const
    ).map(([system, arch, target]): [string, LoadOptions, string] => [
      system,
      { platform: 'linux', arch, execPath: nodeOf(system) },
      target,
    ]),
    ['macOS, Apple silicon', { platform: 'darwin', arch: 'arm64' }, 'darwin-arm64'],
    ['macOS, Intel', { platform: 'darwin', arch: 'x64' }, 'darwin-x64'],
    ['Windows', { platform: 'win32', arch: 'x64' }, 'win32-x64-msvc'],
    ['Windows on Arm', { platform: 'win32', arch: 'arm64' }, 'win32-arm64-msvc'],
  ]
  for (const [system, options, target] of expected) {
    t.is(look({ ...all, ...options }).from, `@idlest/binding-${target}`, system)
  }
})

test('where the build is missing, its package is named with the version, and the system with it', (t) => {
  const none = project({})
  const expected: [LoadOptions, string, string][] = [
    [
      { platform: 'linux', arch: 'x64', execPath: nodeOf('Debian bookworm, x64') },
      'linux x64 gnu',
      'linux-x64-gnu',
    ],
    [
      { platform: 'linux', arch: 'arm64', execPath: nodeOf('Alpine, arm64') },
      'linux arm64 musl',
      'linux-arm64-musl',
    ],
    [{ platform: 'darwin', arch: 'arm64' }, 'darwin arm64', 'darwin-arm64'],
    [{ platform: 'win32', arch: 'x64' }, 'win32 x64', 'win32-x64-msvc'],
  ]
  for (const [options, system, target] of expected) {
    const { message = '' } = look({ ...none, ...options })
    t.true(message.startsWith(`no native engine for ${system}. Looked for `), message)
    t.true(message.endsWith(`npm install @idlest/binding-${target}@${VERSION}`), message)
    t.regex(message, /--omit=optional/)
  }
})

test('where the C library is not known, both packages are named', (t) => {
  const { message = '' } = look({
    ...project({}),
    ...{ platform: 'linux', arch: 'x64', execPath: nodeOf('linked statically') },
  })
  t.regex(message, /linux x64 libc unknown/)
  t.regex(
    message,
    /install @idlest\/binding-linux-x64-gnu@1\.2\.3, or @idlest\/binding-linux-x64-musl@1\.2\.3$/,
  )
})

test('packages that were installed for another system are told of', (t) => {
  const { message = '' } = look({
    ...project({ 'linux-x64-gnu': { main: working }, 'darwin-arm64': { main: working } }),
    ...{ platform: 'linux', arch: 'x64', execPath: nodeOf('Alpine, x64') },
  })
  t.regex(message, /^no native engine for linux x64 musl\./)
  t.regex(message, /other systems need \(@idlest\/binding-darwin-arm64, @idlest\/binding-linux-x64-gnu\)/)
  t.regex(message, /npm install @idlest\/binding-linux-x64-musl@1\.2\.3$/)
})

test('of systems that nothing is published for no package is named', (t) => {
  const systems = [
    ['freebsd', 'x64'],
    ['linux', 'arm'],
    ['linux', 'riscv64'],
    ['linux', 's390x'],
    ['win32', 'ia32'],
    ['android', 'arm64'],
    ['sunos', 'x64'],
  ] as const
  for (const [platform, arch] of systems) {
    const { message = '' } = look({
      ...project({}),
      ...{ platform, arch, execPath: nodeOf('Debian bookworm, x64') },
    })
    t.true(message.startsWith(`no native engine for ${platform} ${arch}`), message)
    t.regex(message, /None is published for this system/)
    t.notRegex(message, /npm install/)
  }
})

const gnu = { platform: 'linux', arch: 'x64', execPath: nodeOf('Debian bookworm, x64') }

test('a package of another version is not loaded', (t) => {
  const main = { name: 'addon.cjs', content: 'throw new Error("loaded")' }
  for (const version of ['1.2.2', '1.2.4', '2.0.0', '1.2.3-rc.1']) {
    const { message = '', reasons } = look({ ...project({ 'linux-x64-gnu': { version, main } }), ...gnu })
    t.deepEqual(reasons, ['not there', `it is version ${version}, and this is idlest 1.2.3`])
    t.regex(message, /What is there does not fit: npm install @idlest\/binding-linux-x64-gnu@1\.2\.3$/)
  }
})

test('where the version of idlest is not known, the interface alone decides', (t) => {
  const { from } = look({
    ...project({ 'linux-x64-gnu': { version: '9.9.9', main: working } }),
    ...gnu,
    version: undefined,
  })
  t.is(from, '@idlest/binding-linux-x64-gnu')
})

test('a package without its file, or with another, is to be installed again', (t) => {
  const broken: [Fixture, RegExp][] = [
    [{}, /Cannot find module '.*binding-linux-x64-gnu.*idlest\.node'/],
    [{ main: { name: 'idlest.node', content: 'garbage' } }, /idlest\.node/],
    [{ main: { name: 'idlest.node', content: '' } }, /idlest\.node/],
    [{ main: { name: 'idlest.node', content: nodes['Alpine, x64'].toString('latin1') } }, /idlest\.node/],
  ]
  for (const [fixture, why] of broken) {
    const { message = '', reasons } = look({ ...project({ 'linux-x64-gnu': fixture }), ...gnu })
    t.regex(reasons?.[1] ?? '', why)
    t.regex(message, /What is there does not fit: npm install @idlest\/binding-linux-x64-gnu@1\.2\.3$/)
  }
})

function coded(message: string, codes: Record<string, string>): Error {
  return Object.assign(new Error(message), codes)
}

const PACKAGE = '@idlest/binding-linux-x64-gnu'

test("what Yarn's Plug'n'Play and others say of a package that is not there counts as that, in their words", (t) => {
  const why = "it isn't declared in your dependencies; this makes the require call ambiguous and unsound."
  const sayings = [
    coded(`Your application tried to access ${PACKAGE}, but ${why}\n\nRequired package: ${PACKAGE}\n`, {
      code: 'MODULE_NOT_FOUND',
      pnpCode: 'UNDECLARED_DEPENDENCY',
    }),
    coded(`idlest tried to access ${PACKAGE}, but ${why}`, { code: 'UNDECLARED_DEPENDENCY' }),
    coded(`Cannot find package '${PACKAGE}' from '/app/program.js'`, { code: 'ERR_MODULE_NOT_FOUND' }),
    coded(`Cannot find module '${PACKAGE}' from 'program.js'`, { code: 'MODULE_NOT_FOUND' }),
  ]
  for (const error of sayings) {
    const require = (id: string): never => {
      throw id.startsWith('@') ? error : coded(`Cannot find module '${id}'`, { code: 'MODULE_NOT_FOUND' })
    }
    const result = loadBinding({ ...gnu, require, version: VERSION, clone: false })
    if (result.kind === 'loaded') return t.fail()
    t.true(
      result.reasons.every(({ absent }) => absent),
      error.message,
    )
    t.is(result.error.cause, undefined)
    const first = error.message.split('\n', 1)[0] ?? ''
    if (!first.startsWith(`Cannot find module '${PACKAGE}'`))
      t.true(result.error.message.includes(`(${first})`))
  }
})

test('a module that the addon needs and lacks is a fault of it', (t) => {
  const require = (id: string): never => {
    throw coded(`Cannot find module '${id}${id.startsWith('@') ? '/idlest.node' : ''}'`, {
      code: 'MODULE_NOT_FOUND',
    })
  }
  const result = loadBinding({ ...gnu, require, version: VERSION, clone: false })
  t.deepEqual(result.kind === 'missing' ? result.reasons.map(({ absent }) => absent) : [], [true, false])
})

test('a C library that is too old is told of, with the version that is needed', (t) => {
  const require = (id: string): never => {
    if (!id.startsWith('@')) throw coded(`Cannot find module '${id}'`, { code: 'MODULE_NOT_FOUND' })
    throw coded(`/lib/x86_64-linux-gnu/libc.so.6: version \`GLIBC_2.34' not found (required by ${id})`, {
      code: 'ERR_DLOPEN_FAILED',
    })
  }
  const { message = '' } = look({ ...gnu, require, clone: false })
  t.regex(message, /It needs glibc 2\.34 or later, and this system's is older\.$/)
})

/** A bundle in the folder of a project. */
function bundleIn({ from }: { from: string }): LoadOptions & { from: string } {
  return { ...gnu, from: new URL('../../../bundle.mjs', from).href, bundled: true, clone: false }
}

test('a bundle looks beside itself and for the package, and says what to do', (t) => {
  const bundle = bundleIn(project({}))
  const { message = '', reasons } = look(bundle)
  t.deepEqual(reasons, ['not there', 'not there'])
  t.true(
    message.includes(
      `It runs from the bundle ${bundle.from}: leave idlest out of it (esbuild: --external:idlest)`,
    ),
  )
  t.regex(message, /idlest\.linux-x64-gnu\.node beside it, or name its path by IDLEST_BINDING_PATH\.$/)
})

test('a bundle loads the addon of the package above it', (t) => {
  t.is(look(bundleIn(project({ 'linux-x64-gnu': { main: working } }))).from, PACKAGE)
})

test('a bundle loads the addon that is beside it', (t) => {
  const bundle = bundleIn(project({}))
  const file = fileURLToPath(new URL('idlest.linux-x64-gnu.node', bundle.from))
  const require = (id: string): unknown => {
    if (id === file) return { abi: () => ABI, Core: class {} }
    throw coded(`Cannot find module '${id}'`, { code: 'MODULE_NOT_FOUND' })
  }
  t.is(look({ ...bundle, require }).from, file)
})

test('in a clone the addon is built, not installed', (t) => {
  const { message = '' } = look({ ...project({}), ...gnu, clone: true })
  t.regex(message, /npm run build builds it where Rust is installed\.$/)
})
