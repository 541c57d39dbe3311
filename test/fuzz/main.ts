// `npm run fuzz`: feeds the readers of reports inputs that nobody would write. `--help` lists the options.
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Command, InvalidArgumentError } from 'commander'
import { Progress } from '../../dist/cli/progress.js'
import { toSeed } from '../../dist/seed.js'
import type { Failure, Figures, Job, Message } from './job.js'
import { MAX_INPUT } from './mutator.js'
import { targets } from './targets.js'

/** A thread that does not get to the next input for so long hangs, ms. */
const HANGS = 20_000

interface Options {
  target?: typeof targets
  minutes?: number
  seed: number
  input?: Buffer
}

const options = new Command('fuzz')
  .description(
    'Changes inputs of the readers by chance, led by which code they reach. Exits with 1 where one fails.',
  )
  .option('--minutes <count>', 'for all readers together (default: one for each)', positive)
  .option('--target <names>', 'some of the readers, with commas (default: all)', someTargets)
  .option('--seed <number>', 'of a run that is to be repeated', positive, toSeed(undefined)[0])
  .option('--input <file>', 'looks at this one input, which an earlier run left behind', readable)
  .parse()
  .opts<Options>()

function positive(text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new InvalidArgumentError('expected a number above 0')
  return value
}

function readable(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}

function someTargets(text: string): typeof targets {
  return text.split(',').map((name) => {
    const found = targets.find((target) => target.name === name)
    const known = targets.map((target) => target.name).join(', ')
    if (found === undefined) throw new InvalidArgumentError(`expected some of ${known}`)
    return found
  })
}

function fuzz(
  target: string,
  ms: number,
  progress: Progress,
): Promise<{ figures?: Figures; failure?: Failure }> {
  const pulse = new Int32Array(new SharedArrayBuffer(8))
  const current = new Uint8Array(new SharedArrayBuffer(MAX_INPUT))
  const job: Job = { target, seed: options.seed, ms, pulse, current }
  const worker = new Worker(new URL('thread.mjs', import.meta.url), { workerData: job })
  const start = Date.now()
  return new Promise((resolve) => {
    const end = (result: { figures?: Figures; failure?: Failure }): void => {
      clearInterval(watch)
      progress.clear()
      void worker.terminate().then(() => resolve(result))
    }
    let last = 0
    let since = Date.now()
    const watch = setInterval(() => {
      const inputs = Atomics.load(pulse, 0)
      if (inputs !== last) since = Date.now()
      last = inputs
      if (Date.now() - since < HANGS) return
      end({ failure: { why: `it hangs, for ${HANGS} ms`, input: current.slice(0, Atomics.load(pulse, 1)) } })
    }, 1000)
    worker.on('message', (message: Message) => {
      if (message.kind === 'end') {
        end(
          message.failure
            ? { figures: message.figures, failure: message.failure }
            : { figures: message.figures },
        )
        return
      }
      const seconds = Math.round(ms / 1000)
      progress.step(target, Math.min(seconds, Math.round((Date.now() - start) / 1000)), seconds)
    })
    worker.on('error', (error) =>
      end({ failure: { why: error.stack ?? error.message, input: new Uint8Array() } }),
    )
  })
}

function line(
  target: string,
  { inputs, read, corpus, covered, slowest, grown }: Figures,
  seconds: number,
): string {
  return (
    `${target}: ${inputs} inputs, ${Math.round(inputs / seconds)} a second, ${Math.round((100 * read) / inputs)} % read, ` +
    `${corpus} kept, ${covered} characters of code reached, ` +
    `slowest ${slowest.toFixed(1)} ms, heap ${grown < 0 ? '' : '+'}${(grown / 2 ** 20).toFixed(1)} MiB`
  )
}

function tell(target: string, { why, input }: Failure): void {
  const file = join(tmpdir(), `idlest-fuzz-${target}-${options.seed}`)
  writeFileSync(file, input)
  console.log(`${target} FAILED with seed ${options.seed}: ${why}`)
  console.log(`  input: ${JSON.stringify(Buffer.from(input.subarray(0, 200)).toString('latin1'))}`)
  console.log(`  again: npm run fuzz -- --target ${target} --input ${file}`)
}

async function run(chosen: typeof targets): Promise<number> {
  const progress = new Progress()
  const seconds = ((options.minutes ?? chosen.length) * 60) / chosen.length
  console.log(`${chosen.length} readers, ${Math.round(seconds)} s each, --seed ${options.seed}`)
  let all = 0
  let failed = 0
  for (const { name } of chosen) {
    const { figures, failure } = await fuzz(name, seconds * 1000, progress)
    all += figures?.inputs ?? 0
    if (figures !== undefined) console.log(line(name, figures, seconds))
    if (failure === undefined) continue
    failed++
    tell(name, failure)
  }
  console.log(`${all} inputs, ${failed} of ${chosen.length} readers failed`)
  return failed
}

const chosen = options.target ?? targets
if (options.input === undefined) {
  if ((await run(chosen)) > 0) process.exitCode = 1
} else {
  const { input } = options
  for (const target of chosen) console.log(`${target.name}: ${target.check(input) ? 'read' : 'refused'}`)
}
