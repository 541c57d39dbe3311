#!/usr/bin/env node
import { Command, type CommanderError } from 'commander'
import { agentCommand } from './agent.js'
import { demoCommand } from './demo/command.js'
import { FAILED, USAGE } from './exit-codes.js'
import { simulateCommand } from './simulate.js'
import { packageVersion } from './version.js'

// Commander exits with 1 for a wrong call; 0 is for --help and --version.
function exitAsUsual({ exitCode }: CommanderError): never {
  process.exit(exitCode === FAILED ? USAGE : exitCode)
}

const program = new Command('idlest')
  .description('Picks the idlest server for the next call, from what the servers themselves report.')
  .version(packageVersion())
  .exitOverride(exitAsUsual)

for (const command of [demoCommand().exitOverride(exitAsUsual), agentCommand(), simulateCommand()])
  program.addCommand(command)

await program.parseAsync()
