import { closeSync, openSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { EngineError } from '../errors.js'
import { ABI } from './abi.js'
import type { NativeBinding } from './native.js'

const require = createRequire(import.meta.url)

/** The C library that a Linux binary is linked with. */
export type Libc = 'gnu' | 'musl'

/** One place where the addon was looked for, and why it did not come from there. */
export interface LoadReason {
  /** A path or a package name. */
  readonly tried: string
  readonly why: string
  /** What was thrown; absent where there is simply nothing at that place. */
  readonly error?: unknown
}

/** What came of looking for the addon. */
export type LoadResult =
  | { readonly kind: 'loaded'; readonly binding: NativeBinding; readonly from: string }
  | { readonly kind: 'missing'; readonly reasons: readonly LoadReason[]; readonly error: EngineError }

const PT_INTERP = 3
const MOST_HEADERS = 64
const MOST_INTERPRETER_BYTES = 4096

/**
 * The ELF interpreter that a binary asks for, such as `/lib64/ld-linux-x86-64.so.2`; undefined where it is no 64-bit
 * ELF file, is linked statically or can't be read. Reads a few kilobytes at most.
 */
export function elfInterpreter(path: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    return readInterpreter(file)
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function readInterpreter(file: number): string | undefined {
  const header = readAt(file, 0, 64)
  // Magic, and 2: 64 bits. Every platform that has a prebuilt addon is a 64-bit one.
  if (header.readUInt32BE(0) !== 0x7f454c46 || header[4] !== 2) return undefined
  const little = header[5] === 1
  const u16 = (of: Buffer, at: number) => (little ? of.readUInt16LE(at) : of.readUInt16BE(at))
  const u64 = (of: Buffer, at: number) => Number(little ? of.readBigUInt64LE(at) : of.readBigUInt64BE(at))
  const size = u16(header, 54)
  const count = Math.min(u16(header, 56), MOST_HEADERS)
  const table = readAt(file, u64(header, 32), size * count)
  for (let at = 0; at < table.length; at += size) {
    const type = little ? table.readUInt32LE(at) : table.readUInt32BE(at)
    if (type !== PT_INTERP) continue
    const length = Math.min(u64(table, at + 32), MOST_INTERPRETER_BYTES)
    return readAt(file, u64(table, at + 8), length)
      .toString('latin1')
      .replace(/\0.*$/s, '')
  }
  return undefined
}

// Throws where the file ends before: a truncated header says nothing.
function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  if (readSync(file, bytes, 0, length, position) !== length) throw new RangeError('truncated')
  return bytes
}

/**
 * Which C library a node binary runs on, told by its ELF interpreter: `ldd` and the system's files tell of the system,
 * not of the binary. Undefined where that can't be known.
 */
export function libcOf(execPath: string): Libc | undefined {
  const interpreter = elfInterpreter(execPath)
  if (interpreter === undefined) return undefined
  if (/ld-musl-/.test(interpreter)) return 'musl'
  return /ld-linux|ld64\.so/.test(interpreter) ? 'gnu' : undefined
}

/**
 * Names of the builds that may fit a process, likeliest first: `linux-x64-gnu`, `darwin-arm64`, `win32-x64-msvc`.
 * Both C libraries where it is not known which.
 */
export function buildNames(platform: string, arch: string, libc: Libc | undefined): string[] {
  if (platform === 'win32') return [`win32-${arch}-msvc`]
  if (platform !== 'linux') return [`${platform}-${arch}`]
  return (libc === undefined ? ['gnu', 'musl'] : [libc]).map((name) => `linux-${arch}-${name}`)
}

/** Where to look for the addon. */
export interface LoadOptions {
  /** The only place to look, where given. */
  readonly path?: string | undefined
  readonly platform?: string | undefined
  readonly arch?: string | undefined
  /** The node binary whose C library counts. */
  readonly execPath?: string | undefined
  /** Loads a module by path or name; Node's own unless a test stands in. */
  readonly require?: ((id: string) => unknown) | undefined
}

/** Looks for the addon: at the given path alone, or in the local build, then in the platform's package. */
export function loadBinding(options: LoadOptions = {}): LoadResult {
  const platform = options.platform ?? process.platform
  const arch = options.arch ?? process.arch
  const load = options.require ?? require
  const libc = platform === 'linux' ? libcOf(options.execPath ?? process.execPath) : undefined
  const names = buildNames(platform, arch, libc)
  const places =
    options.path === undefined
      ? [
          ...names.map((name) => fileURLToPath(new URL(`../native/idlest.${name}.node`, import.meta.url))),
          ...names.map((name) => `@idlest/binding-${name}`),
        ]
      : [options.path]
  const reasons: LoadReason[] = []
  for (const place of places) {
    const found = tryPlace(load, place)
    if ('binding' in found) return { kind: 'loaded', binding: found.binding, from: place }
    reasons.push(found)
  }
  const system = [platform, arch, ...(platform === 'linux' ? [libc ?? 'libc unknown'] : [])].join(' ')
  return { kind: 'missing', reasons, error: missingError(system, names, options.path, reasons) }
}

function tryPlace(load: (id: string) => unknown, place: string): { binding: NativeBinding } | LoadReason {
  let loaded: unknown
  try {
    loaded = load(place)
  } catch (error) {
    if (isAbsent(error, place)) return { tried: place, why: 'not there' }
    return { tried: place, why: firstLine(error), error }
  }
  return checkBinding(loaded, place)
}

// A package that is there but lacks its file says the same, of another module: that is a fault, not an absence.
function isAbsent(error: unknown, place: string): boolean {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'MODULE_NOT_FOUND') return false
  return firstLine(error).startsWith(`Cannot find module '${place}'`)
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.split('\n', 1)[0] as string
}

function checkBinding(loaded: unknown, place: string): { binding: NativeBinding } | LoadReason {
  const candidate = loaded as Partial<NativeBinding> | null | undefined
  if (typeof candidate?.abi !== 'function') return { tried: place, why: 'it is not an addon of idlest' }
  let abi: unknown
  try {
    abi = candidate.abi()
  } catch (error) {
    return { tried: place, why: firstLine(error), error }
  }
  if (abi !== ABI || typeof candidate.Core !== 'function') {
    return { tried: place, why: `its interface is version ${String(abi)}, and this idlest needs ${ABI}` }
  }
  return { binding: candidate as NativeBinding }
}

function missingError(
  system: string,
  names: readonly string[],
  path: string | undefined,
  reasons: readonly LoadReason[],
): EngineError {
  const looked = reasons.map(({ tried, why }) => `${tried} (${why})`).join('; ')
  const remedy = reasons.some(({ error }) => isDisabled(error))
    ? 'Allow addons: run node without --no-addons, or with --allow-addons beside --permission.'
    : path !== undefined
      ? 'Set IDLEST_BINDING_PATH to an addon built for this version, or unset it.'
      : `npm before 11.3 may leave out packages of other platforms from a lock file: npm install @idlest/binding-${names[0]}${versionSuffix()}`
  const causes = reasons.flatMap(({ error }) => (error === undefined ? [] : [error]))
  const cause = causes.length > 1 ? new AggregateError(causes, 'several addons did not load') : causes[0]
  return new EngineError(`no native engine for ${system}. Looked for ${looked}. ${remedy}`, cause)
}

function isDisabled(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_DLOPEN_DISABLED'
}

function versionSuffix(): string {
  try {
    const { version } = require('../../package.json') as { version?: unknown }
    return typeof version === 'string' ? `@${version}` : ''
  } catch {
    return ''
  }
}

// By path: tests and long-lived processes may change the variable.
const results = new Map<string | undefined, LoadResult>()

/** The addon of this process, looked for once; `IDLEST_BINDING_PATH` names the only place to look. */
export function processBinding(): LoadResult {
  const path = process.env.IDLEST_BINDING_PATH || undefined
  let result = results.get(path)
  if (result === undefined) {
    result = loadBinding({ path })
    results.set(path, result)
  }
  return result
}
