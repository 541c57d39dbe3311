import { Command, Option } from 'commander'
import { IdlestError } from '../../errors.js'
import { engineOption, numberFrom, seed } from '../arguments.js'
import { Ended, endingSignal } from '../ending.js'
import { exitAsUsual, FAILED } from '../exit.js'
import { Progress } from '../progress.js'
import { showScene } from '../scene.js'
import type { View } from './frame.js'
import type { DemoOptions } from './scene.js'
import { ServerFailure } from './servers.js'
import { lineView, progressView, screenView } from './views.js'

function viewFor(json: boolean, progress: Progress): View {
  if (json) return progressView(progress)
  return process.stdout.isTTY ? screenView(process.stdout) : lineView(process.stdout)
}

interface DemoFlags extends DemoOptions {
  readonly json: boolean
  readonly open: boolean
}

async function run({ json, open, ...options }: DemoFlags, command: Command): Promise<void> {
  if (open) {
    await showScene({ host: '127.0.0.1', open }, command)
    return
  }
  const progress = new Progress()
  try {
    // Not at the top: the other commands do without all that it loads.
    const { runDemo } = await import('./run.js')
    const result = await runDemo(options, viewFor(json, progress), endingSignal())
    if (json) process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`)
  } catch (error) {
    if (error instanceof Ended) process.exitCode = error.exitCode
    else if (error instanceof ServerFailure || error instanceof IdlestError) {
      process.stderr.write(`error: ${error.message}\n`)
      process.exitCode = FAILED
    } else throw error
  } finally {
    progress.clear()
  }
}

/**
 * `idlest demo`: four server processes, one of them half as fast as it looks; the same requests with round robin, then with
 * idlest. With `--open` it is `idlest scene --open` instead. Exits with 0, with 1 where a server fails, with 2 for a
 * wrong option, with 128 + n for signal n.
 */
export function demoCommand(): Command {
  return new Command('demo')
    .description('send the same requests to four servers with round robin, then with idlest, and compare')
    .option('--duration <seconds>', 'how long requests are sent, each way', numberFrom(1, 600, 'seconds'), 18)
    .option(
      '--load <percent>',
      'load, of what the servers could do without the second job',
      numberFrom(1, 100, 'percent'),
      58,
    )
    .option('--seed <number>', 'fixes the sequence of requests', seed, 1)
    .addOption(engineOption())
    .option('--json', 'print one JSON document, when done, and nothing else', false)
    .addOption(
      new Option('--open', 'show a simulated scene in the browser instead, until Ctrl-C')
        .conflicts('json')
        .default(false),
    )
    .exitOverride(exitAsUsual)
    .action(run)
}
