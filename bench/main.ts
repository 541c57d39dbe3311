// `npm run bench`: measures idlest, prints tables, and says which bars are met. `--help` lists the options.
import { Command } from 'commander'
import { numberFrom } from '../dist/cli/arguments.js'
import { Progress } from '../dist/cli/progress.js'
import { fileToWrite } from './arguments.js'
import { barsOf } from './bars.js'
import { noBinding } from './engines.js'
import { machineLine, thisMachine } from './machine.js'
import { measureCases } from './measure.js'
import { writePages } from './page/write.js'
import { isAlone, measureFigures, type PartOptions } from './parts.js'
import { barsTable, casesTable, figuresTable, floorsTable, missedLine, threadsTable } from './report.js'
import { type Results, writeResults } from './results.js'
import { full, quick } from './settings.js'
import { doubts, verdict } from './steadiness.js'
import { theseVersions, versionLines } from './versions.js'

interface Options extends PartOptions {
  json?: string
  quick?: boolean
  cases: boolean
  figures: boolean
  compare?: boolean
  rounds?: number
  write?: boolean
  page?: boolean
}

const options = new Command('bench')
  .description('Measures idlest on this machine. Exits with 0 also where a bar is missed.')
  .option('--write', 'measures everything, and writes bench/results.json and the pages made of it')
  .option(
    '--page',
    'makes the pages anew from bench/results.json and bench/quality.json, and measures nothing',
  )
  .option('--compare', 'what others do, and what of idlest does the same, alone')
  .option('--json <file>', 'writes the results to a file', fileToWrite)
  .option('--quick', 'few samples: shows that everything runs, its figures say nothing')
  .option('--rounds <count>', 'rounds over the timed cases', numberFrom(1, 1e6, 'rounds', true))
  .option('--no-cases', 'leaves out the timed cases')
  .option(
    '--no-figures',
    'leaves out garbage collections, memory, the poll cycles, waits, middleware, undici and calls of gRPC',
  )
  .option('--poll', 'the poll cycles alone')
  .option('--grpc', 'hearing a fleet by gRPC, alone')
  .option('--nats <address>', 'hearing reports over this NATS server, such as 127.0.0.1:4222, alone')
  .option('--waits', 'the waits of jobs for worker threads alone')
  .option('--middleware', 'what middleware adds to a request alone')
  .option('--undici', "BalancedDispatcher beside undici's own dispatchers, alone")
  .option('--grpc-policies', 'calls of gRPC by the policies of idlest and of grpc-js alone')
  .parse()
  .opts<Options>()

if (options.page) tellPages()
else await measure()

function tellPages(): void {
  for (const line of writePages()) console.log(line)
}

async function measure(): Promise<void> {
  const start = performance.now()
  const usual = options.quick ? quick : full
  const settings = { ...usual, rounds: options.rounds ?? usual.rounds }
  const progress = new Progress()
  const machine = thisMachine()
  const versions = theseVersions()
  console.log([machineLine(machine), ...versionLines(versions)].join('\n'))
  if (noBinding !== undefined) progress.note(`the native engine is left out: ${noBinding}`)

  const whole = options.write === true
  const alone = !whole && (isAlone(options) || options.compare === true)
  const wantsFigures = whole || (options.figures && !options.compare)
  const timed = whole || options.compare || (options.cases && !alone)
  const measured = timed ? await measureCases(settings, progress, options.compare === true) : undefined
  const figures = wantsFigures ? await measureFigures(settings, options, whole, progress) : {}
  const { results: cases = [], threads = [], steadiness } = measured ?? {}
  // What was left out on purpose need not be listed as not measured.
  const all = timed && wantsFigures
  const bars = barsOf(cases, figures).filter(({ met }) => all || met !== undefined)
  const results: Results = {
    date: new Date().toISOString(),
    took: Math.round((performance.now() - start) / 1_000),
    quick: options.quick === true,
    rounds: settings.rounds,
    machine,
    versions,
    ...(steadiness !== undefined && { steadiness }),
    cases,
    threads,
    figures,
    bars,
  }
  print(results)
  if (options.json !== undefined) writeResults(results, options.json)
  if (options.write) {
    writeResults(results)
    tellPages()
  }
}

function print({ steadiness, cases, threads, figures, bars, took, quick }: Results): void {
  if (cases.length > 0) {
    console.log(`\nThe floors:\n${floorsTable(cases, steadiness)}`)
    console.log(
      '\nMedians over rounds, and where eight of ten rounds lie. floors: to an empty native call of the same moment. p99: of samples, each a mean over many picks; a round starts with a publication.',
    )
    console.log(casesTable(cases, bars))
  }
  if (threads.length > 0) console.log(threadsTable(threads))
  if (Object.keys(figures).length > 0) console.log(figuresTable(figures))
  if (bars.length > 0) console.log(barsTable(bars))
  console.log(missedLine(bars))
  console.log(`It took ${took} s.`)
  if (steadiness !== undefined) {
    const { loadBefore, loadAfter, others } = steadiness
    console.log(
      `Load ${loadBefore} before the cases and ${loadAfter} after; others used ${Math.round(others * 100)} % of the machine meanwhile.`,
    )
    console.log(verdict(steadiness))
    for (const doubt of doubts(steadiness)) console.log(`WARNING: these figures can't be believed: ${doubt}.`)
  }
  if (quick) console.log('This was a quick run: its figures say nothing.')
}
