import { Command } from 'commander'
import { type Agent, createAgent } from '../agent/agent.js'
import { IdlestError, OptionError } from '../errors.js'
import { authority, isLoopback } from '../host.js'
import { type AgentFlags, addAgentFlags, agentOptionsOf, flagMessage } from './agent-flags.js'
import { exitAsUsual, FAILED, USAGE } from './exit.js'

/** Who can ask at an address: what an operator should know before somebody else finds out. */
function reach(host: string, guarded: boolean): string {
  if (isLoopback(host)) return ' (loopback only)'
  return guarded ? '' : ' (warning: open to other machines, without a token)'
}

function announce(agent: Agent, { token, tlsClientCa }: AgentFlags): void {
  const lines: string[] = []
  const guarded = typeof token === 'string' || tlsClientCa !== undefined
  if (agent.url !== '') lines.push(`listening on ${agent.url}${reach(agent.host, guarded)}`)
  if (agent.agentCheck !== undefined) {
    const where = authority(agent.agentCheck)
    lines.push(`answering agent checks on ${where}${reach(agent.agentCheck.host, false)}`)
  }
  if (agent.grpc !== undefined) {
    lines.push(`listening for gRPC on ${authority(agent.grpc)}${reach(agent.grpc.host, guarded)}`)
  }
  if (agent.nats !== undefined) {
    lines.push(`publishing on NATS at ${agent.nats.servers.join(', ')}: ${agent.nats.subject}`)
  }
  // In one piece: who waits for the first line has all of them.
  process.stdout.write(lines.map((line) => `idlest agent ${line}\n`).join(''))
}

/** At the first signal all hear that it drains, and get time to act on it; at the second, or then, it ends. */
async function endOnSignals(agent: Agent, wait: number): Promise<void> {
  await new Promise<void>((resolve) => {
    let draining = false
    const heard = (): void => {
      agent.drain()
      if (draining || wait === 0) {
        resolve()
        return
      }
      draining = true
      process.stdout.write(`idlest agent draining for ${wait} ms; a second signal ends it at once\n`)
      setTimeout(resolve, wait)
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, heard)
  })
  await agent.close()
  process.exit(0)
}

async function run(flags: AgentFlags, command: Command): Promise<void> {
  let agent: Agent
  try {
    agent = await createAgent(agentOptionsOf(flags))
  } catch (error) {
    if (!(error instanceof IdlestError)) throw error
    command.error(`error: ${flagMessage(error)}`, { exitCode: error instanceof OptionError ? USAGE : FAILED })
  }
  // Who reads that it listens may send a signal at once.
  const ended = endOnSignals(agent, flags.drainWait)
  announce(agent, flags)
  await ended
}

/**
 * `idlest agent`: tells this machine's load until SIGINT or SIGTERM. Says then that it drains, goes on for
 * `--drain-wait` ms, and exits with 0; with 2 for a wrong option, and with 1 where it can't listen.
 */
export function agentCommand(): Command {
  const command = new Command('agent').description(
    'tell the load of this machine or container to balancers, over HTTP and otherwise',
  )
  return addAgentFlags(command)
    .allowExcessArguments(false)
    .exitOverride(exitAsUsual)
    .action((flags: AgentFlags, command: Command) => run(flags, command))
}
