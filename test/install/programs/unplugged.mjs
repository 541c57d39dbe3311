// Imports what others are plugged into while they are not installed, and says what comes of using it.
import { createAgent, createBalancer, natsTransport, orcaTransport } from 'idlest'
import { registerIdlestPolicies } from 'idlest/grpc'
import { instrumentBalancer } from 'idlest/opentelemetry'
import { collectBalancer } from 'idlest/prometheus'
import { BalancedDispatcher } from 'idlest/undici'

const balancer = createBalancer({ nodes: ['127.0.0.1:1'], poll: false })
const uses = {
  grpc: () => registerIdlestPolicies(),
  opentelemetry: () => instrumentBalancer(balancer),
  prometheus: () => collectBalancer(balancer),
  undici: () => new BalancedDispatcher(balancer).close(),
  orcaTransport: () => orcaTransport(),
  natsTransport: () => natsTransport({ servers: '127.0.0.1' }),
  agent: () => createAgent({ grpc: {} }),
}
const said = {}
for (const [name, use] of Object.entries(uses)) {
  try {
    await use()
    said[name] = 'works'
  } catch (error) {
    said[name] = `${error.code}: ${error.message}`
  }
}
console.log(JSON.stringify(said))
