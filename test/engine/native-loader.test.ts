import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { ABI } from '../../dist/engine/abi.js'
import { loadBinding } from '../../dist/engine/binding.js'
import { elfInterpreter, isCutShort } from '../../dist/engine/elf.js'
import { libcOf } from '../../dist/engine/libc.js'
import { buildNames } from '../../dist/engine/targets.js'
import { EngineError } from '../../dist/errors.js'
import { elf } from '../support/elf.js'

const folder = mkdtempSync(join(tmpdir(), 'idlest-loader-'))
test.after.always(() => rmSync(folder, { recursive: true, force: true }))

const GNU = '/lib64/ld-linux-x86-64.so.2'
const MUSL = '/lib/ld-musl-x86_64.so.1'

let files = 0
function file(content: Buffer | string, ending = 'bin'): string {
  const path = join(folder, `${files++}.${ending}`)
  writeFileSync(path, content)
  return path
}

test('the interpreter is read from the program headers', (t) => {
  t.is(elfInterpreter(file(elf({ interpreter: GNU }))), GNU)
  t.is(elfInterpreter(file(elf({ interpreter: MUSL, big: true }))), MUSL)
})

test('the C library is told by the interpreter of the binary', (t) => {
  t.is(libcOf(file(elf({ interpreter: GNU }))), 'gnu')
  t.is(libcOf(file(elf({ interpreter: '/lib/ld64.so.2' }))), 'gnu')
  t.is(libcOf(file(elf({ interpreter: MUSL }))), 'musl')
  t.is(libcOf(file(elf({ interpreter: '/gnu/store/some-other' }))), undefined)
})

const runIf = (condition: boolean) => (condition ? test : test.skip)

runIf(process.platform === 'linux')('the running binary is told as its own report has it', (t) => {
  const report = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }
  t.is(libcOf(process.execPath), report.header.glibcVersionRuntime === undefined ? 'musl' : 'gnu')
})

test('what is no such binary tells nothing, and is read no further than it goes', (t) => {
  const unreadable: [string, string][] = [
    ['missing', join(folder, 'missing')],
    ['a folder', folder],
    ['empty', file('')],
    ['short', file(elf({ interpreter: GNU }).subarray(0, 40))],
    ['cut in the headers', file(elf({ interpreter: GNU }).subarray(0, 100))],
    ['cut in the interpreter', file(elf({ interpreter: GNU }).subarray(0, 205))],
    ['a script', file(`#!/bin/sh\n${'x'.repeat(100)}`)],
    ['32 bits', file(elf({ interpreter: GNU, bits: 1 }))],
    ['linked statically', file(elf({}))],
    ['an interpreter beyond the end', file(elf({ interpreter: GNU, length: 2 ** 40 }))],
    ['headers beyond the end', file(elf({ headers: 65_535 }))],
  ]
  for (const [what, path] of unreadable) t.is(elfInterpreter(path), undefined, what)
})

test('a binary that was not copied to its end is known by what is to be loaded of it', (t) => {
  t.true(isCutShort(file(elf({ loads: 257 }))))
  t.true(isCutShort(file(elf({ loads: 2 ** 40, big: true }))))
  t.true(isCutShort(file(elf({ loads: 256 }).subarray(0, 255))))
  t.false(isCutShort(file(elf({ loads: 256 }))))
  t.false(isCutShort(file(elf({ length: 1000, interpreter: GNU }))))
  t.false(isCutShort(process.execPath))
  for (const content of ['', 'garbage', elf({ loads: 257 }).subarray(0, 100)])
    t.false(isCutShort(file(content)))
  t.false(isCutShort(folder))
})

test('builds are named after platform, architecture and C library', (t) => {
  t.deepEqual(buildNames('linux', 'x64', 'gnu'), ['linux-x64-gnu'])
  t.deepEqual(buildNames('linux', 'arm64', 'musl'), ['linux-arm64-musl'])
  t.deepEqual(buildNames('linux', 'x64', undefined), ['linux-x64-gnu', 'linux-x64-musl'])
  t.deepEqual(buildNames('darwin', 'arm64', undefined), ['darwin-arm64'])
  t.deepEqual(buildNames('win32', 'x64', undefined), ['win32-x64-msvc'])
})

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

function absent(id: string): Error {
  return coded('MODULE_NOT_FOUND', `Cannot find module '${id}'\nRequire stack:\n- somewhere`)
}

function absentAlways(id: string): never {
  throw absent(id)
}

const linux = { platform: 'linux', arch: 'x64', execPath: file(elf({ interpreter: GNU })), clone: false }
const working = { abi: () => ABI, Core: class {} }

test('the local build goes before the package', (t) => {
  const tried: string[] = []
  const result = loadBinding({
    ...linux,
    require(id) {
      tried.push(id)
      return id.startsWith('@') ? working : absentAlways(id)
    },
  })
  t.deepEqual(tried.slice(1), ['@idlest/binding-linux-x64-gnu/package.json', '@idlest/binding-linux-x64-gnu'])
  t.regex(tried[0] ?? '', /dist[\\/]native[\\/]idlest\.linux-x64-gnu\.node$/)
  t.is(result.kind === 'loaded' ? result.from : '', '@idlest/binding-linux-x64-gnu')
})

test('a binary on musl looks for the musl build alone', (t) => {
  const execPath = file(elf({ interpreter: MUSL }))
  const result = loadBinding({ ...linux, execPath })
  t.is(result.kind, 'missing')
  if (result.kind !== 'missing') return
  t.deepEqual(
    result.reasons.map(({ why, error }) => [why, error]),
    [
      ['not there', undefined],
      ['not there', undefined],
    ],
  )
  t.true(result.reasons.every(({ tried }) => tried.includes('linux-x64-musl')))
  t.regex(result.error.message, /no native engine for linux x64 musl/)
  t.regex(result.error.message, /npm install @idlest\/binding-linux-x64-musl@\d+\.\d+\.\d+/)
  t.is(result.error.cause, undefined)
})

test('both are looked for where the C library is not known', (t) => {
  const result = loadBinding({ ...linux, execPath: join(folder, 'missing'), require: absentAlways })
  t.is(result.kind === 'missing' ? result.reasons.length : 0, 4)
  t.regex(result.kind === 'missing' ? result.error.message : '', /linux x64 libc unknown/)
})

test('a package that lacks its own file is a fault, and kept', (t) => {
  const fault = coded('MODULE_NOT_FOUND', "Cannot find module '/x/node_modules/@idlest/binding/idlest.node'")
  const result = loadBinding({
    ...linux,
    require(id) {
      throw id.startsWith('@') ? fault : absent(id)
    },
  })
  t.is(result.kind === 'missing' ? result.error.cause : undefined, fault)
})

test('every fault is kept where there are several', (t) => {
  const result = loadBinding({
    ...linux,
    require(id) {
      throw coded('ERR_DLOPEN_FAILED', `${id}: GLIBC_9.99 not found`)
    },
  })
  const cause = result.kind === 'missing' ? result.error.cause : undefined
  t.true(cause instanceof AggregateError)
  t.is((cause as AggregateError).errors.length, 2)
})

test('a path that is given is the only place to look', (t) => {
  const path = join(folder, 'nothing.node')
  const result = loadBinding({ path })
  t.is(result.kind, 'missing')
  if (result.kind !== 'missing') return
  t.deepEqual(result.reasons, [{ tried: path, why: 'not there', absent: true }])
  t.true(result.error instanceof EngineError)
  t.regex(result.error.message, /IDLEST_BINDING_PATH/)
})

test('a file that is no library is refused with its error', (t) => {
  for (const content of ['garbage', elf({ interpreter: GNU })]) {
    const path = file(content, 'node')
    const result = loadBinding({ path })
    t.is(result.kind, 'missing')
    if (result.kind !== 'missing') return
    t.true(result.error.cause instanceof Error)
    t.is((result.error.cause as NodeJS.ErrnoException).code, 'ERR_DLOPEN_FAILED')
    t.true(result.error.message.includes(path))
  }
})

test('an addon that was not copied to its end is not loaded: that would kill the process', (t) => {
  const result = loadBinding({ path: file(elf({ loads: 257 }), 'node') })
  t.deepEqual(result.kind === 'missing' ? result.reasons.map(({ why }) => why) : [], [
    'its file was not copied to the end',
  ])
})

test('an addon of another version is refused', (t) => {
  const path = fileURLToPath(new URL('../fixtures/native-loader/old-abi.cjs', import.meta.url))
  const result = loadBinding({ path })
  t.is(result.kind, 'missing')
  t.regex(
    result.kind === 'missing' ? result.error.message : '',
    new RegExp(`its interface is version 0, and this idlest needs ${ABI}`),
  )
})

test('what is no addon of idlest is refused', (t) => {
  for (const loaded of [null, undefined, 1, {}, { abi: 2 }, { abi: () => ABI }]) {
    t.is(loadBinding({ path: 'x', require: () => loaded }).kind, 'missing')
  }
  const broken = () => {
    throw new Error('broken')
  }
  const throwing = {
    get abi() {
      return broken()
    },
  }
  for (const loaded of [{ abi: broken, Core: class {} }, throwing]) {
    const result = loadBinding({ path: 'x', require: () => loaded })
    t.regex(result.kind === 'missing' ? result.error.message : '', /broken/)
  }
})
