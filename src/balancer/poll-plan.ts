import { type Algorithm, probingOf, startupJitterOf } from '../algorithms/registry.js'
import { OptionError } from '../errors.js'
import type { TransportOption } from '../poller/transport.js'
import { httpTransport } from '../poller/transports/http.js'
import { type CheckedPollOptions, pollDefaults } from './options.js'

/** How a balancer polls, with everything filled in. */
export interface PollPlan extends Omit<CheckedPollOptions, 'port'> {
  readonly startupJitter: number
  /** Undefined: only the local process is sampled. */
  readonly transport: TransportOption | undefined
}

const howToProbe = ({ kind }: Algorithm) =>
  `a transport for the probes of ${kind}(), such as httpTransport({ port: 9000, token }); or poll.port, the port of the ` +
  'agents; or, to go by report() and responses alone, poll: false'

/**
 * What a balancer polls with. Undefined where it does not poll at all: nodes are asked only where the user said how,
 * because a service that has no agent would answer each poll with an error.
 *
 * @param poll undefined: not given; false: nothing may run in the background
 * @param samplesSelf whether the local process is a member, which is sampled once a cycle
 * @throws OptionError for poll options that say neither how nor at which port to ask, and for an algorithm that probes
 * without such options; with `poll: false` it goes by `report()` and responses alone
 */
export function planPolling(
  poll: CheckedPollOptions | false | undefined,
  algorithm: Algorithm,
  samplesSelf: boolean,
): PollPlan | undefined {
  if (poll === false) return undefined
  if (probingOf(algorithm) !== undefined && poll?.transport === undefined && poll?.port === undefined) {
    throw new OptionError('poll.transport', undefined, howToProbe(algorithm))
  }
  if (poll === undefined && !samplesSelf) return undefined
  const { port, transport, startupJitter, ...rest } = poll ?? pollDefaults
  if (port !== undefined && transport !== undefined) {
    throw new OptionError('poll.port', port, 'left out where poll.transport is given, which has the port')
  }
  if (port === undefined && transport === undefined && !samplesSelf) {
    throw new OptionError(
      'poll.transport',
      transport,
      'a transport, such as httpTransport({ port: 9000, token }); or poll.port, the port of the agents',
    )
  }
  return {
    ...rest,
    startupJitter: startupJitter ?? startupJitterOf(algorithm, rest.interval),
    transport: port === undefined ? transport : httpTransport({ port }),
  }
}
