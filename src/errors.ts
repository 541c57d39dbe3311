import { printable } from './printable.js'
import { isUint8Array } from './typed-array.js'
import { withoutCredentials, withoutUrlCredentials } from './without-credentials.js'

/** The stable codes of idlest's errors. */
export type ErrorCode =
  | 'IDLEST_NO_NODES'
  | 'IDLEST_UNKNOWN_LOAD'
  | 'IDLEST_BAD_OPTION'
  | 'IDLEST_BAD_NODE'
  | 'IDLEST_BAD_KEY'
  | 'IDLEST_DUPLICATE_NODE'
  | 'IDLEST_UNKNOWN_NODE'
  | 'IDLEST_NODE_TAKEN'
  | 'IDLEST_BAD_REPORT'
  | 'IDLEST_CLOSED'
  | 'IDLEST_TABLE'
  | 'IDLEST_ENGINE'
  | 'IDLEST_SAMPLER'
  | 'IDLEST_LISTEN'
  | 'IDLEST_PEER'

/**
 * What every error of idlest has: a stable `code`, and where one value is at fault, that value. Neither the message nor
 * the value holds a secret: see {@link IdlestError.value}.
 */
export class IdlestError extends Error {
  /** The class's name. */
  override readonly name: string = 'IdlestError'
  /** Which error it is: stable, for programs to go by. */
  readonly code: ErrorCode
  /**
   * The offending value, where there is one: a string (at most 1,024 characters, `(hidden)` for credentials in it), a
   * number or another primitive. An object or a function may contain secrets, so it is only described: `an object`. The
   * value of a secret option is `(hidden)`, and that of an unknown option undefined.
   */
  readonly value: unknown

  constructor(code: ErrorCode, message: string, value?: unknown, cause?: unknown) {
    super(printable(message), cause === undefined ? undefined : { cause })
    this.code = code
    this.value = value === UNKNOWN_OPTION ? undefined : kept(value)
  }
}

/** Nothing can be picked: no member is up, or every one of them is excluded. */
export class NoNodesError extends IdlestError {
  /** The class's name. */
  override readonly name = 'NoNodesError'
  constructor(message = 'there is no node to pick: add members, or exclude fewer of them') {
    super('IDLEST_NO_NODES', message)
  }
}

/**
 * A pick compared nodes of which no load is known, this one among them, and was told to fail then: `powerOfTwo` with
 * `unknown: 'fail'`.
 */
export class UnknownLoadError extends IdlestError {
  /** The class's name. */
  override readonly name = 'UnknownLoadError'
  /** The node's id. */
  readonly node: string

  constructor(id: string) {
    super(
      'IDLEST_UNKNOWN_LOAD',
      `nothing is known of the load of node ${shown(id)}, nor of those it was compared with: no report of theirs has ` +
        'the metric, or all are older than ttl',
      id,
    )
    this.node = id
  }
}

/** Stands for a secret in an error. */
export const HIDDEN = '(hidden)'

/** Stands for the value of an option that does not exist: it may be a secret under a misspelt name. */
export const UNKNOWN_OPTION: unique symbol = Symbol('unknown option')

/** An option is unknown, of the wrong type or out of range. */
export class OptionError extends IdlestError {
  /** The class's name. */
  override readonly name = 'OptionError'
  /** The option's path, such as `poll.interval`. */
  readonly option: string
  /** What would be right. */
  readonly expected: string

  constructor(option: string, value: unknown, expected: string, cause?: unknown) {
    const name = shownName(option)
    const what = value === UNKNOWN_OPTION ? 'unknown' : shown(value)
    // All options at once have no name of their own.
    const subject = name === 'options' ? 'the value given for the options' : `option ${name}`
    super('IDLEST_BAD_OPTION', `${subject} is ${what}: expected ${expected}`, value, cause)
    this.option = name
    this.expected = expected
  }
}

/** A node is not a string of 1 to 1,024 characters without NUL, nor an object with such an `id`. */
export class BadNodeError extends IdlestError {
  /** The class's name. */
  override readonly name = 'BadNodeError'
  constructor(value: unknown, why: string) {
    super('IDLEST_BAD_NODE', `${shown(value)} can't be a node: ${why}`, value)
  }
}

/** A key is not a string, a Uint8Array or a finite number. */
export class BadKeyError extends IdlestError {
  /** The class's name. */
  override readonly name = 'BadKeyError'
  constructor(value: unknown) {
    super(
      'IDLEST_BAD_KEY',
      `${shown(value)} can't be a key: expected a string, a Uint8Array or a finite number`,
      value,
    )
  }
}

/** The same id stands twice among the nodes. */
export class DuplicateNodeError extends IdlestError {
  /** The class's name. */
  override readonly name = 'DuplicateNodeError'
  constructor(id: string) {
    super('IDLEST_DUPLICATE_NODE', `node ${shown(id)} is named twice: each id may stand once`, id)
  }
}

/** The node is not a member of this balancer. */
export class UnknownNodeError extends IdlestError {
  /** The class's name. */
  override readonly name = 'UnknownNodeError'
  constructor(value: unknown) {
    super('IDLEST_UNKNOWN_NODE', `${shown(value)} is not a member of this balancer: add it first`, value)
  }
}

/** The node is measured already: by another thread, or this metric of it by this balancer. */
export class NodeTakenError extends IdlestError {
  /** The class's name. */
  override readonly name = 'NodeTakenError'
  /** When the other thread loses the node unless it is heard of, ms from now; undefined where it is this thread. */
  readonly lapses: number | undefined
  constructor(id: string, by: string | { readonly thread: number; readonly lapses: number }) {
    const who =
      typeof by === 'string'
        ? `this balancer has a meter of its ${by} already: close it first`
        : `thread ${by.thread} measures it, until it closes its meters or is silent for ${by.lapses} ms more`
    super('IDLEST_NODE_TAKEN', `node ${shown(id)} is taken: ${who}`, id)
    this.lapses = typeof by === 'string' ? undefined : by.lapses
  }
}

/** A report has a field of the wrong type or outside its range. */
export class BadReportError extends IdlestError {
  /** The class's name. */
  override readonly name = 'BadReportError'
  /** The field at fault, such as `cpu`; empty for the report as a whole. */
  readonly field: string
  constructor(field: string, value: unknown, expected: string) {
    const what = field === '' ? 'the report' : `report field ${shownField(field)}`
    super('IDLEST_BAD_REPORT', `${what} is ${shown(value)}: expected ${expected}`, value)
    this.field = field
  }
}

/** The balancer, agent or poller was closed before this call. */
export class ClosedError extends IdlestError {
  /** The class's name. */
  override readonly name = 'ClosedError'
  constructor(what: string) {
    super('IDLEST_CLOSED', `${what} is closed`)
  }
}

/** A table is full, its memory is not laid out as this version expects, its file can't be used, or a ring would have too many points. */
export class TableError extends IdlestError {
  /** The class's name. */
  override readonly name = 'TableError'
  constructor(message: string, value?: unknown, cause?: unknown) {
    super('IDLEST_TABLE', message, value, cause)
  }
}

/** The native engine was asked for by name and can't be loaded. */
export class EngineError extends IdlestError {
  /** The class's name. */
  override readonly name = 'EngineError'
  constructor(message: string, cause?: unknown) {
    super('IDLEST_ENGINE', message, undefined, cause)
  }
}

/** A sampler threw, hung or gave something that is not a finite number >= 0. */
export class SamplerError extends IdlestError {
  /** The class's name. */
  override readonly name = 'SamplerError'
  constructor(message: string, value?: unknown, cause?: unknown) {
    super('IDLEST_SAMPLER', message, value, cause)
  }
}

/** A package that idlest plugs into is not installed, or of a version that it was not tested with. */
export class PeerError extends IdlestError {
  /** The class's name. */
  override readonly name = 'PeerError'
  /** The package's name. */
  readonly package: string
  /** Its version; undefined where it is missing, or can't be found out. */
  readonly version: string | undefined
  /** The versions that were tested, as npm takes them. */
  readonly tested: string

  /** @param found what is there instead, such as "is not installed" */
  constructor(name: string, version: string | undefined, tested: string, found: string, cause?: unknown) {
    super(
      'IDLEST_PEER',
      `${name} ${found}: tested is ${tested}; npm install ${name}@${tested}`,
      version,
      cause,
    )
    this.package = name
    this.version = version
    this.tested = tested
  }
}

const LISTEN_REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another socket has this port',
  EACCES: 'this process may not use this port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'no such host name',
  ERR_ACCESS_DENIED: 'the permission model allows no network: run node with --allow-net',
}

/** A server of idlest's can't listen where it was told to. */
export class ListenError extends IdlestError {
  /** The class's name. */
  override readonly name = 'ListenError'
  /** Where it was to listen. */
  readonly host: string
  /** The port that it was to listen on. */
  readonly port: number
  constructor(host: string, port: number, cause: unknown) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : shown(cause)
    const reason = LISTEN_REASONS[code]
    const why = reason === undefined ? code : `${reason} (${code})`
    super('IDLEST_LISTEN', `can't listen on ${host}, port ${port}: ${why}`, undefined, cause)
    this.host = host
    this.port = port
  }
}

// Its name may come from the network: as long as may be, and with what would begin a line of its own in a log.
function shownField(field: string): string {
  return field.length <= 60 && /^[ -~]*$/.test(field) ? field : shown(field)
}

const LONGEST_NAME = 200

// A name that is unknown may be anything, such as a URL that was taken for a name.
function shownName(name: string): string {
  return printable(cut(withoutCredentials(name), LONGEST_NAME))
}

// What an error keeps of a value. Logs print it, so it may hold no secret.
function kept(value: unknown): unknown {
  if (typeof value === 'string') return withoutCredentials(value)
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isObject ? shown(value) : value
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}

/** A value for a message: short, quoted where it is a string, without credentials, safe for anything. */
export function shown(value: unknown): string {
  try {
    return printable(shownAsIs(value))
  } catch {
    // A proxy that throws, or is revoked.
    return "an object that can't be read"
  }
}

function shownAsIs(value: unknown): string {
  if (typeof value === 'string') {
    const safe = withoutCredentials(value)
    const short = safe.length > 60 ? `${safe.slice(0, 60)}… (${value.length} characters)` : safe
    return JSON.stringify(short)
  }
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (isUint8Array(value)) return `${value.length} bytes`
  if (typeof value === 'object' && value !== null) return 'an object'
  return String(value)
}

const LONGEST_REASON = 200

// What was thrown may be anything, such as an object that can't become a string.
function textOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message || error.name : error)
  } catch {
    return shown(error)
  }
}

/** The words of whatever was thrown, short enough for a warning, without credentials, and printable: a peer may have written them. */
export function reasonOf(error: unknown): string {
  return printable(cut(withoutUrlCredentials(textOf(error)), LONGEST_REASON))
}
