import { isIP } from 'node:net'
import * as v from 'valibot'
import type { Clock } from '../clock.js'
import { LONGEST_WAIT } from '../clock.js'
import { OptionError } from '../errors.js'
import { checkOptions, clockSchema, milliseconds, options, text, whole } from '../options.js'
import { processClock } from '../process-clock.js'
import { Discovery } from './discovery.js'
import { DnsFinder } from './dns-finder.js'
import type { DnsNode } from './dns-lookup.js'
import { type DnsResolver, isDnsResolver } from './dns-records.js'

/** Options of `dnsDiscovery`. */
export interface DnsDiscoveryOptions {
  /** The whole name, such as `api.default.svc.cluster.local`: neither search domains nor the hosts file are looked at. */
  hostname: string
  /**
   * The servers' port: then nodes are the addresses of the name. Without it they are those of its SRV records. Default:
   * none.
   */
  port?: number | undefined
  /** 4 or 6: addresses of that kind alone; 0: IPv4, and IPv6 where the name has no IPv4. Default 0. */
  family?: 0 | 4 | 6 | undefined
  /**
   * Longest time between two lookups, ms: what records say of their TTL can make it less. Node.js tells none of SRV
   * records, so for these the TTLs of their targets' addresses count. Default 30,000.
   */
  interval?: number | undefined
  /**
   * Least time between the starts of two lookups, ms, whatever asks for one. Default 1,000, or `interval` where that is
   * less.
   */
  minInterval?: number | undefined
  /** Longest time of a lookup, ms. Default 5,000. */
  timeout?: number | undefined
  /** What resolves names. Default one of Node.js's, by the servers of this machine. */
  resolver?: DnsResolver | undefined
  /** For telemetry and warnings. Default `dns:` and the hostname. */
  name?: string | undefined
  /** Where time comes from. Default the process's. */
  clock?: Clock | undefined
}

const HOST_NAME = 'a host name, without a scheme or a port'

// Resolvers tell of such names alone that there is none, at each look-up.
function isHostname(name: string): boolean {
  return name.length <= 254 && (/^[^\s:/@\0]+$/.test(name) || isIP(name) !== 0)
}

const dnsOptions = options({
  hostname: v.pipe(text(HOST_NAME), v.check(isHostname, HOST_NAME)),
  port: v.optional(whole(1, 65_535)),
  family: v.optional(v.picklist([0, 4, 6], 'one of 0, 4, 6'), 0),
  interval: v.optional(milliseconds(1), 30_000),
  minInterval: v.optional(milliseconds(1, LONGEST_WAIT)),
  timeout: v.optional(milliseconds(1), 5_000),
  resolver: v.optional(
    v.custom<DnsResolver>(
      isDnsResolver,
      'a Resolver of node:dns, or a function (name, type, signal) => records',
    ),
  ),
  name: v.optional(text()),
  clock: v.optional(clockSchema, () => processClock),
})

/**
 * Nodes by DNS: the addresses of a name, such as those of a headless service of Kubernetes, or the servers of its SRV
 * records with their weights and priorities.
 *
 * Looks again when the records' TTL is over (up to a tenth later, lest a fleet ask all at once), each `interval` at the
 * latest, and when a node fails: it is ejected, or polls of it begin to fail. Never more than once in `minInterval`.
 * Answers without a record, names that are not there, time-outs and errors change nothing; after each, the next lookup
 * waits longer, up to `interval`.
 *
 * @example
 * ```ts
 * const nodes = dnsDiscovery({ hostname: 'api.default.svc.cluster.local', port: 8080 })
 * const balancer = createBalancer({ nodes })
 * await balancer.run((node) => fetch(`http://${node.id}/`))
 * ```
 * @throws OptionError
 */
export function dnsDiscovery(given: DnsDiscoveryOptions): Discovery<DnsNode> {
  const checked = checkOptions('dnsDiscovery', given, dnsOptions)
  const { hostname, port, family, interval, timeout, resolver, clock } = checked
  const { minInterval = Math.min(1_000, interval), name = `dns:${hostname}` } = checked
  if (minInterval > interval) {
    throw new OptionError('dnsDiscovery.minInterval', minInterval, `at most the interval, ${interval}`)
  }
  const settings = { target: { hostname, port, family }, interval, minInterval, timeout, resolver, clock }
  return new Discovery<DnsNode>(name, (onLook) => new DnsFinder({ ...settings, onLook }))
}
