import { InvalidArgumentError } from 'commander'
import { OptionError } from '../../errors.js'
import { policyNames } from '../../scenario/policies.js'

/** What the command line gives. */
export interface Flags {
  readonly servers: number
  readonly cores: number
  readonly slowNode?: number
  readonly slowNodes: number
  readonly load: number
  readonly service: number
  readonly reportInterval: number
  readonly delay: number
  readonly balancers: number
  readonly policy: readonly string[]
  readonly requests: number
  readonly warmup?: number
  readonly seed: number
  readonly engine: 'auto' | 'native' | 'portable'
  readonly replay?: string
  readonly replayField?: string
  readonly replaySpeed?: number
  readonly html?: string
  readonly json: boolean
}

/** Whether a flag was given, or has its default. */
export type IsGiven = (flag: keyof Flags) => boolean

/** What a file says of a scenario, or flags do; not checked. */
export type Raw = Readonly<Record<string, unknown>>

// `--policy a,b`, `--policy a b` and `--policy a --policy b` are the same.
export function parsePolicies(text: string, before: readonly string[] | undefined): readonly string[] {
  const found = text.split(',').map((part) => {
    const name = policyNames.find((name) => name === part.trim())
    if (name === undefined) throw new InvalidArgumentError(`Expected some of ${policyNames.join(', ')}.`)
    return name
  })
  return [...new Set([...(before === policyNames || before === undefined ? [] : before), ...found])]
}

function serversOf({ servers, cores, slowNode, slowNodes }: Flags): Raw[] {
  if (slowNode === undefined) return [{ count: servers, cores }]
  if (slowNodes > servers) throw new OptionError('--slow-nodes', slowNodes, `at most --servers, ${servers}`)
  const slow = { count: slowNodes, cores, background: slowNode }
  return slowNodes === servers ? [slow] : [slow, { count: servers - slowNodes, cores }]
}

function replayOf({ replay, replayField, replaySpeed }: Flags): Raw | undefined {
  if (replay !== undefined) return defined({ replay, field: replayField, speed: replaySpeed })
  const [flag, value] = replayField === undefined ? ['speed', replaySpeed] : ['field', replayField]
  if (value === undefined) return undefined
  throw new OptionError(`--replay-${flag}`, value, 'an access log by --replay')
}

function defined(values: Raw): Raw {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/** The scenario that the flags describe. Throws OptionError for one flag that does not go with another. */
export function scenarioOfFlags(flags: Flags, isGiven: IsGiven): Raw {
  const { balancers, policy, load, service, reportInterval, delay, requests, warmup, seed, engine } = flags
  const replay = replayOf(flags)
  return defined({
    servers: serversOf(flags),
    balancers,
    policies: policy,
    arrivals: replay ?? { load },
    service,
    reportInterval,
    delay,
    // A log is replayed as far as it goes.
    requests: replay === undefined || isGiven('requests') ? requests : undefined,
    warmup,
    seed,
    engine,
  })
}

/** A file's scenario with what flags say instead. Throws OptionError for a flag that describes what the file does. */
export function overridden(file: Raw, flags: Flags, isGiven: IsGiven): Raw {
  for (const [flag, name] of [
    ['servers', '--servers'],
    ['cores', '--cores'],
    ['slowNode', '--slow-node'],
    ['slowNodes', '--slow-nodes'],
  ] as const) {
    if (isGiven(flag)) throw new OptionError(name, flags[flag], 'no servers here: the file describes them')
  }
  const { load, requests, policy } = flags
  const changed: Record<string, unknown> = { ...file }
  for (const flag of [
    'balancers',
    'service',
    'reportInterval',
    'delay',
    'warmup',
    'seed',
    'engine',
  ] as const) {
    if (isGiven(flag)) changed[flag] = flags[flag]
  }
  if (isGiven('policy')) changed.policies = policy
  if (isGiven('requests')) {
    changed.requests = requests
    delete changed.duration
  }
  const replay = replayOf(flags)
  if (replay !== undefined) changed.arrivals = replay
  else if (isGiven('load')) changed.arrivals = { load }
  return changed
}
