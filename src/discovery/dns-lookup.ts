import { isIP } from 'node:net'
import { authority } from '../host.js'
import {
  addressesOf,
  DnsProblem,
  type DnsResolver,
  functionOf,
  problemOf,
  type RecordType,
  type ServiceRecord,
  servicesOf,
} from './dns-records.js'
import type { Problem } from './finder.js'

/** A server by DNS. */
export interface DnsNode {
  /** `10.0.0.1:8080`, `[::1]:8080`. */
  readonly id: string
  /** The address. */
  readonly host: string
  /** The port, of the service record or of the options. */
  readonly port: number
  /** The name that has this address, such as for TLS: the hostname, or the target of an SRV record. */
  readonly name: string
  /** Its part of the picks by that of the others of its priority, by SRV records; else 1. */
  readonly weight: number
  /** The lowest comes first, by SRV records; else 0. */
  readonly priority: number
}

/** What a lookup came to. */
export interface DnsLook {
  /** In the order of their ids; undefined where none are known. */
  readonly nodes: readonly DnsNode[] | undefined
  readonly problems: readonly Problem[]
  /** How long the answers are good for, ms; infinite where none of them says so. */
  readonly ttl: number
}

/** What is looked up. */
export interface DnsTarget {
  readonly hostname: string
  /** Undefined: by SRV records. */
  readonly port: number | undefined
  /** 0: IPv4 where there is any, else IPv6. */
  readonly family: 0 | 4 | 6
}

interface Addresses {
  readonly addresses: readonly string[]
  /** Seconds. */
  readonly ttl: number
}

/** Targets of SRV records that are looked up at once. */
const AT_ONCE = 16

/** Looks up the servers of one name, again and again. */
export class DnsLookup {
  readonly #target: DnsTarget
  // What the targets of SRV records had last: a target that can't be resolved keeps it.
  #targets = new Map<string, Addresses>()

  constructor(target: DnsTarget) {
    this.#target = target
  }

  /** Looks once. Rejects with DnsProblem where nothing is known. */
  async look(resolver: DnsResolver, signal: AbortSignal): Promise<DnsLook> {
    const { hostname, port } = this.#target
    const ask = new Asking(resolver, this.#target.family, signal)
    if (port === undefined) return this.#lookServices(ask, hostname)
    const { addresses, ttl } = await ask.addresses(hostname)
    const nodes = addresses.map((host) => nodeOf({ name: hostname, port, priority: 0, weight: 1 }, host, 1))
    return { nodes: inOrder(nodes), problems: [], ttl: ttl * 1_000 }
  }

  async #lookServices(ask: Asking, hostname: string): Promise<DnsLook> {
    const services = weighed(await ask.services(hostname))
    const names = [...new Set(services.map(({ name }) => name))]
    const targets = new Map<string, Addresses>()
    const problems: Problem[] = []
    await eachOf(names, AT_ONCE, async (name) => {
      try {
        targets.set(name, await ask.addresses(name))
      } catch (error) {
        const { kind, message } = problemOf(name, 'A', error)
        problems.push({ kind, reason: message, error })
        const before = this.#targets.get(name)
        if (before !== undefined) targets.set(name, before)
      }
    })
    this.#targets = targets
    const ttls = [...services, ...targets.values()].map(({ ttl }) => ttl)
    const ttl = ttls.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY) * 1_000
    const nodes = services.flatMap((service) => {
      const { addresses } = targets.get(service.name) ?? { addresses: [] }
      return addresses.map((host) => nodeOf(service, host, addresses.length))
    })
    return { nodes: nodes.length === 0 ? undefined : inOrder(merged(nodes)), problems, ttl }
  }
}

/** The questions of one look. */
class Asking {
  readonly #ask: (name: string, type: RecordType) => Promise<readonly unknown[]>
  readonly #family: 0 | 4 | 6

  constructor(resolver: DnsResolver, family: 0 | 4 | 6, signal: AbortSignal) {
    const resolve = functionOf(resolver)
    this.#family = family
    this.#ask = async (name, type) => {
      try {
        const records = await resolve(name, type, signal)
        if (records.length > 0) return records
      } catch (error) {
        throw problemOf(name, type, error)
      }
      throw new DnsProblem('empty', `no ${type} records of ${name}`)
    }
  }

  /** Rejects with DnsProblem. */
  async addresses(name: string): Promise<Addresses> {
    if (isIP(name) !== 0) return { addresses: [name], ttl: Number.POSITIVE_INFINITY }
    if (this.#family === 6) return this.#of(name, 'AAAA')
    try {
      return await this.#of(name, 'A')
    } catch (error) {
      // A server that has both is one node, so that one kind is asked for where the other is not there.
      if (this.#family === 4 || !(error instanceof DnsProblem) || error.kind !== 'empty') throw error
      return this.#of(name, 'AAAA')
    }
  }

  /** Rejects with DnsProblem. */
  async services(name: string): Promise<Required<ServiceRecord>[]> {
    const services = servicesOf(name, await this.#ask(name, 'SRV'))
    if (services.length === 0)
      throw new DnsProblem('empty', `SRV records of ${name} say that there is no server`)
    return services
  }

  async #of(name: string, type: 'A' | 'AAAA'): Promise<Addresses> {
    const records = addressesOf(name, type, await this.#ask(name, type))
    const ttl = records.reduce((least, one) => Math.min(least, one.ttl), Number.POSITIVE_INFINITY)
    return { addresses: [...new Set(records.map(({ address }) => address))], ttl }
  }
}

function nodeOf(service: Omit<ServiceRecord, 'ttl'>, host: string, addresses: number): DnsNode {
  const { name, port, priority, weight } = service
  return { id: authority({ host, port }), host, port, name, weight: weight / addresses, priority }
}

/**
 * Weights as RFC 2782 has them. Where all of a priority have 0, all are the same. Else its way of choosing takes one of
 * those with 0 in one of 1 + (the sum of all weights) cases: together they weigh 1.
 */
function weighed(services: readonly Required<ServiceRecord>[]): Required<ServiceRecord>[] {
  return services.map((service) => {
    if (service.weight > 0) return service
    const peers = services.filter(({ priority }) => priority === service.priority)
    const idle = peers.filter(({ weight }) => weight === 0)
    return { ...service, weight: idle.length === peers.length ? 1 : 1 / idle.length }
  })
}

// Answers come in any order.
function inOrder(nodes: readonly DnsNode[]): DnsNode[] {
  return [...nodes].sort((a, b) => (a.id < b.id ? -1 : 1))
}

// A server that is there twice: what both are to get, at the lower priority.
function merged(nodes: readonly DnsNode[]): DnsNode[] {
  const byId = new Map<string, DnsNode>()
  for (const node of nodes) {
    const other = byId.get(node.id)
    if (other === undefined || node.priority < other.priority) byId.set(node.id, node)
    else if (node.priority === other.priority)
      byId.set(node.id, { ...other, weight: other.weight + node.weight })
  }
  return [...byId.values()]
}

// Does something for each, some at once.
async function eachOf<T>(
  items: readonly T[],
  atOnce: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values()
  const work = async () => {
    for (const item of left) await run(item)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work))
}
