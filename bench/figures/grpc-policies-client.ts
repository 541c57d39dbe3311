// Measures what a call takes by each policy: `grpc-policies-client.ts TARGET ROUNDS CALLS POLICY...`.
import * as grpc from '@grpc/grpc-js'
import { registerIdlestPolicies } from '../../dist/integrations/grpc/index.js'
import { Chance } from '../chance.js'
import { median } from '../statistics.js'
import { GRPC_POLICIES, type GrpcPolicy, type GrpcPolicyResult } from './grpc-policies.js'
import { ANSWER_PATH, asIs } from './grpc-policies-service.js'

/** Calls at a time. */
const TURN = 20
/** The weighted policy of grpc-js takes so long that fewer of its calls say enough. */
const FEWER = 20

const [target = '', rounds, calls, ...names] = process.argv.slice(2)
const policies = GRPC_POLICIES.filter((policy) => names.includes(policy))
const ASK = Buffer.from('ping')

registerIdlestPolicies(grpc)

// Weights count at once.
const configs: Readonly<Record<GrpcPolicy, object>> = {
  round_robin: {},
  weighted_round_robin: { blackout_period: '0s' },
  idlest_weighted_round_robin: { blackoutPeriod: '0s' },
  idlest_adaptive: {},
}

function clientOf(policy: GrpcPolicy): grpc.Client {
  return new grpc.Client(target, grpc.credentials.createInsecure(), {
    'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ [policy]: configs[policy] }] }),
    // Connections of its own, for each alike.
    'grpc.use_local_subchannel_pool': 1,
  })
}

function call(client: grpc.Client): Promise<void> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(ANSWER_PATH, asIs, asIs, ASK, (error) => {
      if (error === null) resolve()
      else reject(error)
    })
  })
}

const clients = new Map(policies.map((policy) => [policy, clientOf(policy)]))

/** µs a call. CPU time: whoever else uses the machine does not count. */
async function time(policy: GrpcPolicy): Promise<number> {
  const client = clients.get(policy) as grpc.Client
  const turns = Math.ceil(Number(calls) / TURN / (policy === 'weighted_round_robin' ? FEWER : 1))
  const start = process.cpuUsage()
  for (let i = 0; i < turns; i++) {
    await Promise.all(Array.from({ length: TURN }, () => call(client)))
  }
  const { user, system } = process.cpuUsage(start)
  return (user + system) / (turns * TURN)
}

const times = new Map<GrpcPolicy, number[]>(policies.map((policy) => [policy, []]))
const chance = new Chance(13)
const warmUp = Math.ceil(Number(rounds) / 4)
for (let round = 0; round < warmUp + Number(rounds); round++) {
  for (const policy of chance.shuffle([...policies])) {
    const took = await time(policy)
    if (round >= warmUp) times.get(policy)?.push(took)
  }
}
for (const client of clients.values()) client.close()

// What is compared comes from the same moment.
const plain = times.get('round_robin') ?? []
const results = [...times].map(
  ([policy, its]): GrpcPolicyResult => ({
    policy,
    cpu: median(its),
    toRoundRobin: median(its.map((took, i) => took / (plain[i] ?? Number.NaN))),
  }),
)
process.send?.(results, () => process.exit())
