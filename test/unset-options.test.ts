// Whoever sets `exactOptionalPropertyTypes` may write `seed: maybe`: the declarations allow it, so must the checks.
import { readFileSync } from 'node:fs'
import test from 'ava'
import { itemsOf } from '../.ci/api/report.mjs'
import * as idlest from '../dist/index.js'
import { VirtualClock } from '../dist/simulation/virtual-clock.js'

const report = itemsOf(readFileSync(new URL('../.github/api/idlest.api.md', import.meta.url), 'utf8'))

/** The names of all that an interface lets be left out, with what it extends. */
function optionalOf(name: string): string[] {
  const [head = '', ...lines] = report.get(name) ?? []
  const declared = head.replace(/^(export interface \w+)<[^>]*>/, '$1')
  const bases = /extends (?:Omit<)?(\w+)/.exec(declared)?.slice(1) ?? []
  const own = lines.flatMap((line) => /^ {4}(?:readonly )?(\w+)\?:/.exec(line)?.slice(1) ?? [])
  return [...bases.flatMap(optionalOf), ...own]
}

/** Options with nothing in them but what is given. */
function unset(name: string, given: object = {}): object {
  const optional = optionalOf(name)
  return { ...Object.fromEntries(optional.map((key) => [key, undefined])), ...given }
}

/** Makers of plain things, and their options. */
const makers: Readonly<Record<string, readonly [string, object?]>> = {
  adaptive: ['AdaptiveOptions'],
  agentCheckTransport: ['AgentCheckTransportOptions', { port: 9001 }],
  cpuSampler: ['CpuSamplerOptions'],
  createTable: ['TableOptions', { clock: new VirtualClock() }],
  dnsDiscovery: ['DnsDiscoveryOptions', { hostname: 'api.example', port: 80 }],
  eventLoopSampler: ['EventLoopSamplerOptions'],
  hashRing: ['HashRingOptions'],
  httpTransport: ['HttpTransportOptions'],
  leastConnections: ['LeastConnectionsOptions'],
  leastCpu: ['LeastCpuOptions'],
  local: ['LocalOptions'],
  maglev: ['MaglevOptions'],
  memorySampler: ['MemorySamplerOptions'],
  meter: ['MeterOptions', { clock: new VirtualClock() }],
  natsTransport: ['NatsTransportOptions', { servers: '127.0.0.1' }],
  nodeExporterTransport: ['NodeExporterTransportOptions'],
  orcaTransport: ['OrcaTransportOptions'],
  powerOfTwo: ['PowerOfTwoOptions', { metric: 'qps' }],
  prequal: ['PrequalOptions'],
  processSampler: ['ProcessSamplerOptions'],
  random: ['RandomOptions'],
  roundRobin: ['RoundRobinOptions'],
  spareCapacity: ['SpareCapacityOptions'],
  throttledSampler: ['ThrottledSamplerOptions'],
  weightedRoundRobin: ['WeightedRoundRobinOptions'],
}

const made: Readonly<Record<string, unknown>> = { ...idlest }

for (const [maker, [name, given]] of Object.entries(makers)) {
  test(`${maker} takes undefined for what is not given`, (t) => {
    const make = made[maker] as (options: object) => unknown
    t.true(optionalOf(name).length > 0)
    t.notThrows(() => make(unset(name, given)))
  })
}

test('a balancer takes undefined for what is not given, at each depth', async (t) => {
  const poll = unset('PollOptions', { transport: idlest.functionTransport(async () => ({ cpu: 1 })) })
  const balancer = idlest.createBalancer({
    ...unset('BalancerOptions'),
    nodes: ['a'],
    clock: new VirtualClock(),
    poll,
    health: { ...unset('HealthOptions'), failureRate: unset('FailureRateOptions') },
    suspicion: unset('SuspicionOptions'),
  })
  t.is(balancer.select(unset('SelectOptions')), 'a')
  const lease = balancer.acquire(unset('SelectOptions'))
  lease.release(unset('Outcome'))
  t.true(balancer.report('a', { ...unset('Report'), cpu: 50 }))
  t.is(balancer.observe('a', {}, unset('ObserveOptions')), 'absent')
  await balancer.close()
})

test('an agent takes undefined for what is not given, and so does its service', async (t) => {
  const agent = await idlest.createAgent({ ...unset('AgentOptions'), http: false, sampler: () => 5 })
  const service = idlest.orcaService(agent, unset('OrcaServiceOptions'))
  t.is(typeof idlest.expressMiddleware(agent, unset('MiddlewareOptions')), 'function')
  await service.close()
  await agent.close()
})

test('discoveries take undefined for what is not given', async (t) => {
  const nodes = (async function* () {})()
  const made = [
    idlest.eventDiscovery(nodes, unset('EventDiscoveryOptions')),
    idlest.fileDiscovery('/etc/api/nodes', unset('FileDiscoveryOptions')),
  ]
  for (const discovery of made) t.deepEqual(discovery.nodes, [])
  await Promise.all(made.map((discovery) => discovery.close()))
})
