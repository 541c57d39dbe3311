// Uses types and values of the main export, as both kinds of TypeScript programs may.
import {
  adaptive,
  type Balancer,
  type BalancerOptions,
  createBalancer,
  httpTransport,
  OptionError,
  type Report,
  select,
} from 'idlest'

interface Server {
  readonly id: string
  readonly weight: number
}

const servers: Server[] = [
  { id: 'a', weight: 1 },
  { id: 'b', weight: 2 },
]
const options: BalancerOptions<Server> = { nodes: servers, algorithm: adaptive(), poll: false }
const balancer: Balancer<Server> = createBalancer(options)
const report: Report = { cpu: 10 }
balancer.report('a', report)
const weight: number = balancer.select().weight
const server: Server = select(servers)
const text: Promise<string> = balancer.run(async (node) => node.id)
try {
  httpTransport({ port: -1 })
} catch (error) {
  if (error instanceof OptionError) console.log(error.code, weight > 0, servers.includes(server))
}
text.then(() => balancer.close())
