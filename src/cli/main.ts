#!/usr/bin/env node
import { Command } from 'commander'
import { agentCommand } from './agent.js'
import { demoCommand } from './demo/command.js'
import { exitAsUsual, outputError } from './exit.js'
import { sceneCommand } from './scene.js'
import { simulateCommand } from './simulate/command.js'
import { sizeCommand } from './size/command.js'
import { topCommand } from './top/command.js'
import { packageVersion } from './version.js'

const program = new Command('idlest')
  .description('Picks the idlest server for the next call, from what the servers themselves report.')
  .version(packageVersion())
  .exitOverride(exitAsUsual)
  .configureOutput({ outputError })

const commands = [
  demoCommand(),
  agentCommand(),
  topCommand(),
  simulateCommand(),
  sizeCommand(),
  sceneCommand(),
]
for (const command of commands) program.addCommand(command.configureOutput({ outputError }))

await program.parseAsync()
