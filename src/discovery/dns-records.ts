import dns from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import type { DiscoveryProblem } from '../balancer/node-source.js'
import { reasonOf, shown } from '../errors.js'

/** An A or AAAA record. */
export interface AddressRecord {
  /** An IPv4 or IPv6 address. */
  readonly address: string
  /** Seconds. */
  readonly ttl?: number | undefined
}

/** An SRV record. */
export interface ServiceRecord {
  /** The target. */
  readonly name: string
  /** The port that the service is on. */
  readonly port: number
  /** The lower, the sooner it is used. */
  readonly priority: number
  /** Its share among those of one priority. */
  readonly weight: number
  /** Seconds. */
  readonly ttl?: number | undefined
}

/** A kind of record that is asked for. */
export type RecordType = 'A' | 'AAAA' | 'SRV'

/**
 * Asks for the records of a name: addresses for A and AAAA, else services. Rejects with an error whose `code` is one of
 * node:dns's where there are none.
 * @param signal aborted when the answer is no longer wanted
 */
export type ResolveFunction = (
  name: string,
  type: RecordType,
  signal: AbortSignal,
) => Promise<readonly (AddressRecord | ServiceRecord | string)[]>

/** What names are resolved by: a `Resolver` of node:dns or node:dns/promises, or a function. */
export type DnsResolver = dns.Resolver | Resolver | ResolveFunction

/** Whether a value can resolve names. */
export function isDnsResolver(value: unknown): value is DnsResolver {
  if (typeof value === 'function') return true
  if (typeof value !== 'object' || value === null) return false
  return ['resolve4', 'resolve6', 'resolveSrv'].every(
    (method) => typeof (value as Record<string, unknown>)[method] === 'function',
  )
}

/** A look at a name that came to nothing. */
export class DnsProblem extends Error {
  readonly kind: DiscoveryProblem
  constructor(kind: DiscoveryProblem, message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

const KINDS: Readonly<Record<string, DiscoveryProblem>> = {
  ENODATA: 'empty',
  ENOTFOUND: 'notFound',
  ETIMEOUT: 'timeout',
  EBADRESP: 'invalid',
}

/** What an error of a resolver is. */
export function problemOf(name: string, type: RecordType, error: unknown): DnsProblem {
  if (error instanceof DnsProblem) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const kind = KINDS[code] ?? 'failed'
  return new DnsProblem(kind, `no ${type} records of ${name}: ${code || reasonOf(error)}`, error)
}

/** Has Node.js's resolvers answer like a function. */
export function functionOf(resolver: DnsResolver): ResolveFunction {
  if (typeof resolver === 'function') return resolver
  if (resolver instanceof dns.Resolver) {
    const resolve4 = promisify(resolver.resolve4.bind(resolver) as typeof dns.resolve4)
    const resolve6 = promisify(resolver.resolve6.bind(resolver) as typeof dns.resolve6)
    const resolveSrv = promisify(resolver.resolveSrv.bind(resolver) as typeof dns.resolveSrv)
    return (name, type) => {
      if (type === 'SRV') return resolveSrv(name)
      return type === 'A' ? resolve4(name, { ttl: true }) : resolve6(name, { ttl: true })
    }
  }
  return (name, type) => {
    if (type === 'SRV') return resolver.resolveSrv(name)
    return type === 'A' ? resolver.resolve4(name, { ttl: true }) : resolver.resolve6(name, { ttl: true })
  }
}

/** Checks addresses. Throws DnsProblem. */
export function addressesOf(
  name: string,
  type: RecordType,
  records: readonly unknown[],
): Required<AddressRecord>[] {
  const version = type === 'A' ? 4 : 6
  return records.map((record) => {
    const { address, ttl = Number.POSITIVE_INFINITY } =
      typeof record === 'string' ? { address: record } : (record as AddressRecord)
    if (typeof address !== 'string' || isIP(address) !== version || !isTtl(ttl))
      throw bad(name, type, address)
    return { address, ttl }
  })
}

/** Checks services; the target `.` says that there is none. Throws DnsProblem. */
export function servicesOf(name: string, records: readonly unknown[]): Required<ServiceRecord>[] {
  return records
    .map((record) => {
      const service = record as ServiceRecord
      const { name: target, port, priority, weight, ttl = Number.POSITIVE_INFINITY } = service
      const isWord = [port, priority, weight].every((it) => Number.isInteger(it) && it >= 0 && it <= 0xffff)
      if (typeof target !== 'string' || !isWord || !isTtl(ttl)) throw bad(name, 'SRV', record)
      return { name: target, port, priority, weight, ttl }
    })
    .filter((service) => service.name !== '.' && service.name !== '')
}

function isTtl(value: unknown): value is number {
  return typeof value === 'number' && value >= 0
}

function bad(name: string, type: RecordType, value: unknown): DnsProblem {
  return new DnsProblem('invalid', `a bad ${type} record of ${name}: ${shown(value)}`)
}

/** A resolver of Node.js's own, which gives up within this time where there is one server, ms. */
export function ownResolver(timeout: number): Resolver {
  // The second try waits twice as long as the first.
  return new Resolver({ timeout: Math.max(1, Math.floor(timeout / 3)), tries: 2 })
}
