// Uses all of the exports that others are plugged into.
import { metrics } from '@opentelemetry/api'
import { createBalancer } from 'idlest'
import { registerIdlestPolicies } from 'idlest/grpc'
import { instrumentBalancer } from 'idlest/opentelemetry'
import { collectBalancer } from 'idlest/prometheus'
import { BalancedDispatcher } from 'idlest/undici'
import { Registry } from 'prom-client'

const balancer = createBalancer({ nodes: ['127.0.0.1:1'], poll: false })
const registry = new Registry()
const watches = [
  collectBalancer(balancer, { registry }),
  instrumentBalancer(balancer, { meterProvider: metrics.getMeterProvider() }),
]
registerIdlestPolicies()
const dispatcher = new BalancedDispatcher(balancer)
registry.metrics().then(async (text) => {
  console.log(text.includes('idlest_'), watches.length, dispatcher.closed)
  await dispatcher.close()
  await balancer.close()
})
