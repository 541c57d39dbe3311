// `npm run bench`: measures idlest, prints tables, and says which bars are met. `--help` lists the options.
import { writeFileSync } from 'node:fs'
import { Command } from 'commander'
import { Progress } from '../dist/cli/progress.js'
import { barsOf, type Figures, LARGE } from './bars.js'
import type { CaseFamily, CaseResult } from './case.js'
import { algorithmCases } from './cases/algorithms.js'
import { arrayCases } from './cases/arrays.js'
import { changesCases } from './cases/changes.js'
import { comparisonCases } from './cases/comparisons.js'
import { floorCases, sampleFloor } from './cases/floor.js'
import { keyedCases } from './cases/keyed.js'
import { leaseCases } from './cases/leases.js'
import { mixedCases } from './cases/mixed.js'
import { naiveCases } from './cases/naive.js'
import { pickCases } from './cases/picks.js'
import { publishingCases } from './cases/publishing.js'
import { sharedFileCases } from './cases/shared-file.js'
import { type ThreadsResult, threadCases } from './cases/threads.js'
import { engines, noBinding } from './engines.js'
import { pollFleet } from './figures/fleet.js'
import { countCollections, type GcResult } from './figures/gc.js'
import { measureGrpcPolicies } from './figures/grpc-policies.js'
import { tableBytes } from './figures/memory.js'
import { measureMiddleware } from './figures/middleware.js'
import { measureNats } from './figures/nats.js'
import { pollCycles } from './figures/poll.js'
import { measureUndici } from './figures/undici.js'
import { measureWaits } from './figures/waits.js'
import { thisMachine } from './machine.js'
import { barsTable, casesTable, figuresTable, threadsTable } from './report.js'
import { runCases } from './run.js'
import { full, quick, type Settings } from './settings.js'

interface Options {
  json?: string
  quick?: boolean
  cases: boolean
  figures: boolean
  poll?: boolean
  grpc?: boolean
  nats?: string
  waits?: boolean
  middleware?: boolean
  undici?: boolean
  grpcPolicies?: boolean
}

const options = new Command('bench')
  .description('Measures idlest on this machine. Exits with 0 also where a bar is missed.')
  .option('--json <file>', 'writes the results to a file')
  .option('--quick', 'few samples: shows that everything runs, its figures say nothing')
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

const settings = options.quick ? quick : full
const progress = new Progress()
const machine = thisMachine()
console.log(
  `Node ${machine.node}, ${machine.platform}, ${machine.cores} x ${machine.cpu}, load ${machine.load}`,
)
if (noBinding !== undefined) progress.note(`the native engine is left out: ${noBinding}`)

const alone =
  options.poll ||
  options.grpc ||
  options.waits ||
  options.middleware ||
  options.undici ||
  options.grpcPolicies ||
  options.nats !== undefined
const measured = options.cases && !alone ? await measureCases(settings) : undefined
const figures = options.figures || alone ? await measureFigures(settings) : {}
// What was left out on purpose need not be listed as not measured.
const all = measured !== undefined && options.figures
const bars = barsOf(measured?.results ?? [], figures).filter(({ met }) => all || met !== undefined)

if (measured !== undefined) {
  console.log(
    '\nMedians over rounds. floors: to an empty native call of the same moment. p99: of samples, each a mean over many picks; a round starts with a publication.',
  )
  console.log(casesTable(measured.results))
  console.log(threadsTable(measured.threads))
}
if (options.figures || alone) console.log(figuresTable(figures))
if (bars.length > 0) console.log(barsTable(bars))
const missed = bars.filter(({ met }) => met === false).length
console.log(
  missed === 0 ? 'No bar that was measured is missed.' : `${missed} of ${bars.length} bars are MISSED.`,
)
if (options.quick) console.log('This was a quick run: its figures say nothing.')

if (options.json !== undefined) {
  const content = {
    machine,
    cases: measured?.results ?? [],
    threads: measured?.threads ?? [],
    figures,
    bars,
  }
  writeFileSync(options.json, `${JSON.stringify(content, undefined, 2)}\n`)
}

async function measureCases(
  settings: Settings,
): Promise<{ results: CaseResult[]; threads: ThreadsResult[] }> {
  const threads = await threadCases()
  const families: CaseFamily[] = [
    floorCases((line) => progress.note(line)),
    pickCases(),
    algorithmCases(),
    keyedCases(),
    mixedCases(),
    await arrayCases(),
    naiveCases(),
    leaseCases(),
    publishingCases(),
    changesCases(),
    sharedFileCases(),
    comparisonCases(),
    threads,
  ]
  const cases = families.flatMap((family) => family.cases)
  const onRound = (round: number, rounds: number) => progress.step('rounds', round, rounds)
  const results = await runCases(cases, settings, onRound, sampleFloor)
  progress.clear()
  const throughput = threads.throughput()
  for (const family of families) await family.close?.()
  return { results, threads: throughput }
}

interface Part {
  readonly what: string
  readonly measure: () => Promise<Figures>
}

// What `--poll` and the others ask for alone, else all that has no option of its own; in the order they are taken.
function partsOf(settings: Settings): Part[] {
  const poll: Part[] = [
    { what: 'polling', measure: async () => ({ poll: await pollCycles(settings.poll) }) },
    { what: 'polling a fleet', measure: async () => ({ fleet: await pollFleet(settings.fleet) }) },
  ]
  const waits: Part = {
    what: 'jobs for worker threads',
    measure: async () => ({ waits: await measureWaits(settings.waits) }),
  }
  const middleware: Part = {
    what: 'middleware',
    measure: async () => ({ middleware: await measureMiddleware(settings.middleware) }),
  }
  const undici: Part = {
    what: 'dispatchers of undici',
    measure: async () => ({ undici: await measureUndici(settings.undici) }),
  }
  const policies: Part = {
    what: 'calls of gRPC',
    measure: async () => ({ grpcPolicies: await measureGrpcPolicies(settings.grpcPolicies) }),
  }
  const { nats } = options
  if (nats !== undefined) {
    return [
      { what: 'hearing on NATS', measure: async () => ({ nats: await measureNats(nats, settings.nats) }) },
    ]
  }
  if (options.grpc) {
    const measure = async () => ({ streams: await pollFleet(settings.fleet, 'grpc') })
    return [{ what: 'hearing a fleet by gRPC', measure }]
  }
  if (options.poll) return poll
  if (options.waits) return [waits]
  if (options.middleware) return [middleware]
  if (options.undici) return [undici]
  if (options.grpcPolicies) return [policies]
  const gc: GcResult[] = []
  const collections = engines.map((engine) => ({
    what: `counting garbage collections, ${engine}`,
    measure: async () => {
      gc.push(await countCollections(engine, settings.gc))
      return { gc }
    },
  }))
  const memory = { what: 'memory', measure: async () => ({ tableBytes: await tableBytes(LARGE) }) }
  return [...collections, memory, ...poll, waits, middleware, undici, policies]
}

async function measureFigures(settings: Settings): Promise<Figures> {
  let figures: Figures = {}
  const parts = partsOf(settings)
  for (const [i, { what, measure }] of parts.entries()) {
    progress.step(what, i, parts.length)
    figures = { ...figures, ...(await measure()) }
  }
  progress.clear()
  return figures
}
