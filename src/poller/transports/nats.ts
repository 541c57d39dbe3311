import * as v from 'valibot'
import {
  NATS_CLIENT,
  type NatsOptions,
  type NatsSettings,
  natsEntries,
  natsSettings,
} from '../../nats/settings.js'
import { subjectOf } from '../../nats/subject.js'
import { needPackage } from '../../optional-package.js'
import { checkOptions, milliseconds, options } from '../../options.js'
import { sealed } from './sealed.js'

/** Options of `natsTransport`. */
export interface NatsTransportOptions extends NatsOptions {
  /** A node that has published no report for so long, ms, has failed. Default 15,000. */
  readonly silence?: number | undefined
}

/** Options of `natsTransport` with their defaults: plain data. */
export interface NatsTransportSettings extends NatsSettings {
  readonly silence: number
}

/**
 * Hears what agents publish on NATS; nobody is polled. Runs in the polling thread, with one connection for all balancers
 * that have equal options. Made by `natsTransport`.
 */
export interface NatsTransport {
  /** Which transport it is. */
  readonly kind: 'nats'
  /** @internal */
  readonly settings: NatsTransportSettings
}

/** What one node is heard by: plain data, for any thread. */
export interface NatsTarget {
  readonly kind: 'nats'
  readonly id: string
  /** The same object for all nodes of a transport. */
  readonly settings: NatsTransportSettings
}

const natsSchema = options({ ...natsEntries, silence: v.optional(milliseconds(1), 15_000) })

/**
 * Makes the transport that hears what agents publish on NATS, each on a subject of its own: see `createAgent({ nats })`.
 * A poll then asks nobody; it only looks who was silent for too long. A report's age is that which it had when it was
 * published: its time on the way, some ms, is not in it.
 *
 * @example
 * ```ts
 * const transport = natsTransport({ servers: ['nats-1.example', 'nats-2.example'], token: process.env.IDLEST_TOKEN })
 * ```
 * @throws OptionError also where the package `@nats-io/transport-node`, which is the client, is not installed
 */
export function natsTransport(given: NatsTransportOptions): NatsTransport {
  const checked = checkOptions('natsTransport', given, natsSchema)
  needPackage('natsTransport', NATS_CLIENT)
  const { silence } = checked
  return sealed('nats', { ...natsSettings('natsTransport', checked), silence })
}

/** Works out what a node is heard by. Throws an Error that says why it can't be. */
export function resolveNats(id: string, settings: NatsTransportSettings): NatsTarget {
  subjectOf(settings.subject, id)
  return { kind: 'nats', id, settings }
}
