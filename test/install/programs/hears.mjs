// Hears an agent by gRPC, and says what it heard; without the library, what is said then.
import { createAgent, createBalancer, orcaTransport } from 'idlest'

async function main() {
  const agent = await createAgent({ http: false, sampler: () => 37.5, grpc: {} })
  const transport = orcaTransport({ port: agent.grpc.port, reportInterval: 100 })
  const balancer = createBalancer({
    nodes: ['127.0.0.1:1'],
    poll: { transport, startupJitter: 0, interval: 100 },
  })
  while (balancer.snapshot()[0].cpu === undefined) await new Promise((resolve) => setTimeout(resolve, 20))
  const [{ cpu }] = balancer.snapshot()
  await balancer.close()
  await agent.close()
  console.log(JSON.stringify({ cpu }))
}

main().catch(({ message }) => console.log(JSON.stringify({ message })))
