// Has a polling thread ask an agent, and says what it heard.
import { createAgent, createBalancer, httpTransport } from 'idlest'

async function main() {
  const warnings = []
  process.on('warning', ({ code, message }) => warnings.push({ code, message }))
  const agent = await createAgent({ host: '127.0.0.1', port: 0, sampler: () => 37.5 })
  const transport = httpTransport({ port: agent.port })
  const balancer = createBalancer({ nodes: ['127.0.0.1:1'], poll: { transport, startupJitter: 0 } })
  await balancer.ready()
  const [{ cpu }] = balancer.snapshot()
  const { engine } = balancer
  await balancer.close()
  await agent.close()
  console.log(JSON.stringify({ engine, cpu, warnings }))
}

main()
