import * as v from 'valibot'
import { type TlsSettings, tlsSchema } from '../client-tls.js'
import { HIDDEN, OptionError } from '../errors.js'
import { secret, text } from '../options.js'
import { pemBuffers } from '../pem.js'
import { isSubject, SUBJECT } from './subject.js'

/** The client library, which those alone need who use NATS. */
export const NATS_CLIENT = '@nats-io/transport-node'

/** How to reach NATS servers, and where reports are on them: the same for those who publish and for those who hear. */
export interface NatsOptions {
  /**
   * Servers of one cluster: `nats.example` or `nats.example:4222`; `tls://nats.example` asks for TLS. Tried in a random
   * order, at all addresses that a name has.
   */
  readonly servers: string | readonly string[]
  /** Reports are published below this. Default `idlest.report`. */
  readonly subject?: string | undefined
  /** The token that the servers ask for. Default none. */
  readonly token?: string | undefined
  /** A user whom the servers know. Default none. */
  readonly user?: string | undefined
  /** The user's password. Default none. */
  readonly password?: string | undefined
  /** The content of a user's credentials file: a JWT and a seed. Default none. */
  readonly credentials?: string | undefined
  /** Have the connection encrypted, and say how certificates are checked. Default: encrypted where a server asks for it. */
  readonly tls?: TlsSettings | undefined
}

/** Checked options: plain data, for any thread. */
export interface NatsSettings extends NatsOptions {
  /** Without their schemes. */
  readonly servers: readonly string[]
  readonly subject: string
}

const SERVERS = "a server such as 'nats.example:4222' or 'tls://nats.example', or an array of these"
// A user or a token in it would be left out by the client.
const SERVER = /^(?:(?:nats|tls):\/\/)?(?:\[[0-9a-f:.]+\]|[^\s/\\?#@:[\]%]{1,253})(?::\d{1,5})?$/i

const server = v.pipe(
  v.string(SERVERS),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || SERVER.test(dataset.value)) return
    const input = dataset.value.includes('@') ? HIDDEN : dataset.value
    addIssue({ message: SERVERS, expected: SERVERS, input })
  }),
)
function hidden(what: string) {
  return v.optional(
    secret(
      (value): value is string => typeof value === 'string' && value !== '',
      'a string that is not empty',
      what,
    ),
  )
}

/** What the schema of whatever takes NatsOptions has. */
export const natsEntries = {
  servers: v.union([server, v.pipe(v.array(server), v.minLength(1, SERVERS))], SERVERS),
  subject: v.optional(v.custom<string>(isSubject, SUBJECT), 'idlest.report'),
  token: hidden('token'),
  user: v.optional(text()),
  password: hidden('password'),
  credentials: hidden('credentials file'),
  tls: v.optional(tlsSchema),
}

/**
 * Makes settings of options that their schema has passed.
 * @param path what the options are called, for messages
 * @throws OptionError where they contradict each other
 */
export function natsSettings(path: string, checked: NatsOptions & { subject: string }): NatsSettings {
  const { servers, subject, token, user, password, credentials, tls } = checked
  if (password !== undefined && user === undefined) {
    throw new OptionError(`${path}.user`, user, 'the user whose password it is')
  }
  const proofs = Object.entries({ token, user, credentials }).filter(([, value]) => value !== undefined)
  if (proofs.length > 1) {
    const [one, other] = proofs.map(([name]) => name)
    throw new OptionError(`${path}.${other}`, HIDDEN, `nothing, since ${one} is given`)
  }
  const given = typeof servers === 'string' ? [servers] : servers
  const wantsTls = given.some((one) => /^tls:/i.test(one))
  const asked = tls ?? (wantsTls ? {} : undefined)
  return {
    servers: given.map((one) => one.replace(/^.*:\/\//, '')),
    subject,
    ...(token === undefined ? {} : { token }),
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ...(credentials === undefined ? {} : { credentials }),
    ...(asked === undefined ? {} : { tls: asked }),
  }
}

/** The same for equal settings alone: by it connections are shared. */
export function settingsName(settings: NatsSettings): string {
  const { servers, subject, token, user, password, credentials, tls } = settings
  const { ca, cert, key, servername, rejectUnauthorized } = tls ?? {}
  const pems = [ca, cert, key].map((pem) => pem && pemBuffers(pem).map(String))
  const who = [servers, subject, token, user, password, credentials]
  return JSON.stringify([...who, tls === undefined, ...pems, servername, rejectUnauthorized])
}
