import type { ReadStream, WriteStream } from 'node:tty'
import { Command, InvalidArgumentError, Option } from 'commander'
import { reasonOf } from '../../errors.js'
import { type FeedLost, isView, openFeed } from '../../live/feed.js'
import type { LiveView } from '../../live/live-view.js'
import { Ended, endingSignal } from '../ending.js'
import { exitAsUsual, FAILED } from '../exit.js'
import { type ColumnKey, columnKeys } from './columns.js'
import { viewLine, wholeTable } from './lines.js'
import { type Sorting, TopModel } from './model.js'
import { runSession } from './session.js'

interface Flags {
  readonly token?: string
  readonly sort: ColumnKey
  readonly reverse: boolean
  readonly filter: string
  readonly once: boolean
  readonly json: boolean
}

type Feed = AsyncIterable<LiveView | FeedLost>

function parseUrl(text: string): URL {
  // An address alone is meant as that of a server that speaks HTTP.
  const full = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`
  if (URL.canParse(full) && /^https?:/i.test(full)) return new URL(full)
  throw new InvalidArgumentError('Expected the URL of a balancer, such as http://127.0.0.1:9090.')
}

/** What there is to say without a terminal: a line a view, or whole views as JSON. */
async function printViews({ origin }: URL, feed: Feed, { json }: Flags): Promise<void> {
  for await (const one of feed) {
    if (!isView(one))
      process.stderr.write(`no connection to ${origin}: ${reasonOf(one.error)}; trying again\n`)
    else process.stdout.write(`${json ? JSON.stringify(one) : viewLine(one, new Date())}\n`)
  }
}

async function printOnce(feed: Feed, sorting: Sorting, { json }: Flags): Promise<void> {
  for await (const one of feed) {
    if (!isView(one)) throw one.error
    process.stdout.write(
      `${json ? JSON.stringify(one, undefined, 2) : wholeTable(one, sorting, process.stdout.columns)}\n`,
    )
    return
  }
}

// Null where it is seen on no terminal, or there are no keys.
function terminal(): { input: ReadStream; output: WriteStream } | null {
  const { stdin: input, stdout: output } = process
  return input.isTTY && output.isTTY && process.env.TERM !== 'dumb' ? { input, output } : null
}

async function run(url: URL, flags: Flags): Promise<void> {
  const { token, sort, reverse, filter, once, json } = flags
  const ending = endingSignal()
  const done = new AbortController()
  const signal = AbortSignal.any([ending, done.signal])
  const feed = openFeed(url, { token, signal })
  const sorting: Sorting = { sort, reverse, filter }
  const seen = once || json ? null : terminal()
  try {
    if (once) await printOnce(feed, sorting, flags)
    else if (seen === null) await printViews(url, feed, flags)
    else await runSession(new TopModel(url.href, sorting), feed, seen, ending)
    if (ending.aborted) throw ending.reason
  } catch (error) {
    if (error instanceof Ended) process.exitCode = error.exitCode
    else {
      process.stderr.write(`error: ${reasonOf(error)}\n`)
      process.exitCode = FAILED
    }
  } finally {
    done.abort()
  }
}

/**
 * `idlest top`: a balancer that is served, on the terminal; without one a line for each view. Exits with 0, with 1 where
 * `--once` finds no balancer, with 2 for a wrong option, with 128 + n for signal n.
 */
export function topCommand(): Command {
  return new Command('top')
    .description('watch a running balancer: its nodes, their load, and why a node is not picked')
    .argument('<url>', 'what balancer.serve() gave, such as http://127.0.0.1:9090', parseUrl)
    .addOption(
      new Option('--token <token>', 'the bearer token; better by the variable, which ps does not show').env(
        'IDLEST_TOKEN',
      ),
    )
    .addOption(new Option('--sort <column>', 'what nodes are sorted by').choices(columnKeys).default('cpu'))
    .option('--reverse', 'sort the other way around', false)
    .option('--filter <words>', 'only nodes with these words in their id, state or why', '')
    .option('--once', 'print one table of all nodes, and end', false)
    .option('--json', 'print each view as a line of JSON; with --once one document', false)
    .allowExcessArguments(false)
    .exitOverride(exitAsUsual)
    .action(run)
}
