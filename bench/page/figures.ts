import type { FleetResult } from '../figures/fleet.js'
import type { NatsMeasures } from '../figures/nats.js'
import { BYTES_A_MIB, count, digits, estimate } from '../numbers.js'
import type { Results } from '../results.js'
import { code, table } from './markdown.js'
import { middlewareTable } from './middleware.js'

/** What is measured beside the timed cases; what was not is left out. */
export function figureSections(results: Results): string[] {
  const { figures } = results
  return [
    memorySection(results),
    pollSection(results),
    ...(figures.nats === undefined ? [] : [natsSection(results)]),
    ...(figures.waits === undefined ? [] : [waitsSection(results)]),
    ...(figures.middleware === undefined
      ? []
      : [
          `## Middleware\nThe same server with and without, switched at random between blocks of requests, over connections in memory, in processes of their own.\n\n${middlewareTable(results)}`,
        ]),
    ...(figures.undici === undefined ? [] : [undiciSection(results)]),
    ...(figures.grpcPolicies === undefined ? [] : [`## Calls of gRPC\n${policiesTable(results)}`]),
  ].filter((section) => section !== '')
}

function memorySection({ figures: { gc = [], tableBytes } }: Results): string {
  if (gc.length === 0 && tableBytes === undefined) return ''
  const rows = gc.flatMap(({ engine, cases }) =>
    cases.map(({ name, picks, collections, bytesPerPick }) => [
      `${code(name)}, ${engine}`,
      count(picks),
      `${collections}`,
      digits(Math.max(0, bytesPerPick)),
    ]),
  )
  return [
    '## Memory',
    `A table of 10,000 nodes takes ${tableBytes === undefined ? '-' : digits(tableBytes / BYTES_A_MIB)} MiB. Garbage collections during picks, in a process of their own:`,
    '',
    table(['', 'picks', 'collections', 'bytes a pick'], rows),
  ].join('\n')
}

function pollSection({ figures: { poll, fleet, streams } }: Results): string {
  if (poll === undefined && fleet === undefined) return ''
  const lines = ['## Polling']
  if (poll !== undefined) {
    const { agents, silent, timeout, durations } = poll
    lines.push(
      `A poll cycle of ${count(agents)} agents of which ${silent} never answer, with a time-out of ${count(timeout)} ms: ${durations.map((ms) => `${digits(ms)} ms`).join(', ')}.`,
    )
  }
  const fleets = [fleet, streams].flatMap((one) => one ?? [])
  if (fleets.length > 0) {
    lines.push(
      'Nodes on loopback in another process of the same machine. The first cycle connects to all of them.',
      '',
      table(
        [
          'nodes',
          'first cycle',
          'later cycles',
          'CPU of the polling thread, a cycle',
          'memory',
          'of it for this',
        ],
        fleets.map(fleetRow),
      ),
    )
  }
  return lines.join('\n')
}

function fleetRow({ nodes, by, interval, cycles, rssBefore, rss }: FleetResult): string[] {
  const [first, ...later] = cycles
  const durations = later.map(({ duration }) => duration)
  const thread = later.flatMap(({ threadCpu }) => threadCpu ?? [])
  const mean = thread.reduce((sum, ms) => sum + ms, 0) / thread.length
  const period = interval + durations.reduce((sum, ms) => sum + ms, 0) / durations.length
  return [
    `${count(nodes)} every ${count(interval)} ms${by === 'grpc' ? ', by streams of gRPC' : ', over HTTP'}`,
    `${digits(first?.duration ?? Number.NaN)} ms`,
    `${digits(Math.min(...durations))}-${digits(Math.max(...durations))} ms`,
    thread.length === 0 ? '-' : `${digits(mean)} ms, ${digits((mean / period) * 100)} % of a core`,
    `${digits(rss / BYTES_A_MIB)} MiB`,
    `${digits((rss - rssBefore) / BYTES_A_MIB)} MiB`,
  ]
}

function natsSection({ figures: { nats } }: Results): string {
  if (nats === undefined) return ''
  const row = (what: string, { elapsed, heard, processCpu, threadCpu }: NatsMeasures) => [
    what,
    count(heard),
    `${count((heard / elapsed) * 1_000)} a second`,
    threadCpu === undefined ? '-' : `${digits((threadCpu / heard) * 1_000)} µs a report`,
    `${digits((processCpu / elapsed) * 100)} % of a core`,
  ]
  return [
    '## Push over NATS',
    table(
      ['', 'reports', 'rate', 'CPU of the polling thread', 'CPU of the process'],
      [
        row(`${count(nats.nodes)} nodes with a report a second each`, nats.steady),
        row('as many as it takes', nats.flooded),
      ],
    ),
  ].join('\n')
}

function waitsSection({ figures: { waits = [] } }: Results): string {
  return [
    '## Worker threads',
    'Eight worker threads, two of them three times as slow, at 60 % load, with one job in ten eleven times as long as the others; how',
    'long a job waits for its thread. `powerOfTwo` goes by what the `meter` of each thread says; `leastConnections` can be exact here,',
    'since one thread gives out all jobs.',
    '',
    table(
      ['', 'mean', 'p99', 'jobs of a slow thread, fair: 1/8'],
      waits.map(({ policy, mean, p99, jobs }) => {
        const all = jobs.reduce((sum, some) => sum + some, 0)
        const slow = jobs.slice(-2).reduce((sum, some) => sum + some, 0) / 2
        return [code(policy), `${digits(mean)} ms`, `${digits(p99)} ms`, `1/${digits(all / slow)}`]
      }),
    ),
  ].join('\n')
}

function undiciSection({ figures: { undici = [] }, versions }: Results): string {
  return [
    `## Dispatchers of undici ${versions.peers.undici ?? ''}`,
    'Four servers on loopback, 64 requests at once, all servers alike; and by chance 60 a second, nine tenths of what it can do, where',
    'one server has half its speed.',
    '',
    table(
      [
        '',
        'requests a second',
        'CPU of one',
        'throughput to BalancedPool',
        'to RoundRobinPool',
        'one busy: p50',
        'p99',
      ],
      undici.map(({ sender, throughput, cpu, toBalancedPool, toRoundRobinPool, p50, p99 }) => [
        sender,
        count(throughput),
        `${digits(cpu)} µs`,
        estimate(toBalancedPool),
        estimate(toRoundRobinPool),
        `${digits(p50)} ms`,
        `${digits(p99)} ms`,
      ]),
    ),
  ].join('\n')
}

/** What a call of gRPC takes in the client, by policy. */
export function policiesTable({ figures: { grpcPolicies = [] }, versions }: Results): string {
  if (grpcPolicies.length === 0) return 'Not measured yet.'
  return [
    `CPU time of a unary call in the client, with @grpc/grpc-js ${versions.peers['@grpc/grpc-js'] ?? ''}, to eight servers in another`,
    'process that send a report with each answer. The weighted policy of grpc-js reads a proto file for each report.',
    '',
    table(
      ['policy', 'a call', 'to `round_robin` of the same round'],
      grpcPolicies.map(({ policy, cpu, toRoundRobin }) => [
        code(policy),
        `${digits(cpu)} µs`,
        digits(toRoundRobin),
      ]),
    ),
  ].join('\n')
}
