import * as v from 'valibot'
import { LONGEST_WAIT } from '../clock.js'
import { hasFields } from '../fields.js'
import { number, oneOf, options, text, whole } from '../options.js'
import { LEAST_INTERVAL } from '../simulation/scene.js'
import { policiesSchema } from './policies.js'
import { duration, percent } from './units.js'

/** Most requests of a run, as the simulator has it. */
export const MOST_REQUESTS = 1e8

/** Most pairs of a balancer and a server: each has what it needs of its own. */
export const MOST_PAIRS = 1_000_000

/** Most reports of a run; they are what takes the time where requests are few. */
export const MOST_REPORTS = 1e9

/** Most servers of a scenario. */
export const MOST_SERVERS = 10_000

const states = oneOf(['up', 'failing', 'silent', 'gone'])
const speed = number(0, 1e6, 'a factor')
const background = percent(0, 100)

const NAME = 'a name that is not empty, nor all: that stands for all servers'

const server = options({
  count: v.optional(whole(1, MOST_SERVERS), 1),
  name: v.optional(v.pipe(text(NAME), v.notValue('all', NAME))),
  cores: v.optional(whole(1, 1024), 1),
  speed: v.optional(speed, 1),
  background: v.optional(background, 0),
  state: v.optional(states, 'up'),
})

type ServerEntry = v.InferOutput<typeof server>

const serverList = v.pipe(
  v.array(server, `a number of servers from 1 to ${MOST_SERVERS}, or a list of them`),
  v.minLength(1, 'at least one server'),
)

const serverCount = v.pipe(
  v.custom<number>(
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MOST_SERVERS,
    `a number of servers from 1 to ${MOST_SERVERS}, or a list of them`,
  ),
  v.transform((count): ServerEntry[] => [
    { count, name: undefined, cores: 1, speed: 1, background: 0, state: 'up' },
  ]),
)

const servers = v.lazy(
  (value) => (Array.isArray(value) ? serverList : serverCount) as v.GenericSchema<unknown, ServerEntry[]>,
)

const referenceExpected = 'the name of a server, its number from 1, a list of these, or all'
const reference = v.custom<string | number>(
  (value) =>
    (typeof value === 'string' && value !== '') || (Number.isInteger(value) && (value as number) >= 1),
  referenceExpected,
)
const references = v.lazy(
  (value) =>
    (Array.isArray(value)
      ? v.pipe(v.array(reference), v.minLength(1, referenceExpected))
      : v.pipe(
          reference,
          v.transform((one) => [one]),
        )) as v.GenericSchema<unknown, (string | number)[]>,
)

const change = v.pipe(
  options({
    at: duration(0),
    server: references,
    speed: v.optional(speed),
    background: v.optional(background),
    state: v.optional(states),
  }),
  v.check(
    ({ speed, background, state }) => speed !== undefined || background !== undefined || state !== undefined,
    'a change of speed, background or state',
  ),
)

const ARRIVALS = 'one of load, rate and replay'

const arrivals = v.pipe(
  options({
    load: v.optional(percent(0.1, 1_000)),
    rate: v.optional(number(1e-6, 1e9, 'a number of requests per second')),
    replay: v.optional(text('the path of an access log, or - for standard input')),
    field: v.optional(text('the name of a field')),
    speed: v.optional(number(1e-3, 1e6, 'a factor')),
  }),
  v.check(
    ({ load, rate, replay }) => [load, rate, replay].filter((given) => given !== undefined).length === 1,
    ARRIVALS,
  ),
  v.check(
    ({ replay, field, speed }) => replay !== undefined || (field === undefined && speed === undefined),
    'field and speed with replay alone',
  ),
)

const time = duration(1e-3, LONGEST_WAIT)
const SERVICE = 'one of mean, constant and times'

const meanService = v.pipe(
  time,
  v.transform((mean): ServiceEntry => ({ mean })),
)

const detailedService = v.pipe(
  options({
    mean: v.optional(time),
    constant: v.optional(time),
    times: v.optional(v.pipe(v.array(time, 'a list of times'), v.minLength(1, 'at least one time'))),
  }),
  v.check((given) => Object.values(given).filter((value) => value !== undefined).length === 1, SERVICE),
)

interface ServiceEntry {
  readonly mean?: number | undefined
  readonly constant?: number | undefined
  readonly times?: readonly number[] | undefined
}

const service = v.lazy(
  (value) => (hasFields(value) ? detailedService : meanService) as v.GenericSchema<unknown, ServiceEntry>,
)

/** A scenario: all that may be left out has the default that `idlest simulate` has without one. */
export const scenarioSchema = options({
  name: v.optional(text()),
  servers: v.optional(servers, 8),
  balancers: v.optional(whole(1, 10_000), 1),
  policies: v.optional(policiesSchema, 'all'),
  arrivals: v.optional(arrivals, { load: 70 }),
  service: v.optional(service, 10),
  reportInterval: v.optional(
    v.pipe(
      duration(0, LONGEST_WAIT),
      v.check(
        (interval) => interval === 0 || interval >= LEAST_INTERVAL,
        `0 for no reports, or a time of at least ${LEAST_INTERVAL} ms`,
      ),
    ),
    5_000,
  ),
  delay: v.optional(duration(0, LONGEST_WAIT), 0),
  timeout: v.optional(duration(0, LONGEST_WAIT)),
  failAfter: v.optional(duration(0, LONGEST_WAIT), 1),
  changes: v.optional(v.array(change, 'a list of changes'), []),
  requests: v.optional(whole(1, MOST_REQUESTS)),
  duration: v.optional(duration(1)),
  warmup: v.optional(duration(0)),
  seed: v.optional(whole(0), 1),
  engine: v.optional(oneOf(['auto', 'native', 'portable']), 'auto'),
})

/** A scenario that was checked, with its defaults. Times in ms, `background` and `load` in percent. */
export type Scenario = v.InferOutput<typeof scenarioSchema>
