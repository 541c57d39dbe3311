// Fuzzes one reader until its time is up. A thread of its own, so that another can see it hang.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parentPort, workerData } from 'node:worker_threads'
import { Coverage } from './coverage.js'
import { Fuzzer } from './fuzzer.js'
import type { Job, Message } from './job.js'

const { target: name, seed, ms, pulse, current }: Job = workerData

// Before the readers are loaded: only what is loaded later is counted.
const coverage = new Coverage((url) => url.includes('/dist/reports/') || url.includes('/@bufbuild/protobuf/'))
const { targets } = await import('./targets.js')
const { corpusOf } = await import('./corpus.js')

setFlagsFromString('--expose-gc')
const collectOnce: () => void = runInNewContext('gc')
// One alone ends a collection that is under way, and leaves what died since that one began.
const collect = (): void => {
  for (let time = 0; time < 3; time++) collectOnce()
}

const target = targets.find((known) => known.name === name)
if (target === undefined) throw new Error(`no target is called ${name}`)
const fuzzer = new Fuzzer({ target, corpus: corpusOf(name), seed, coverage, pulse, current, collect })
const end = performance.now() + ms
const send = (message: Message): void => parentPort?.postMessage(message)
let told = 0
while (performance.now() < end && fuzzer.failure === undefined) {
  fuzzer.round()
  if (performance.now() - told < 1000) continue
  told = performance.now()
  send({ kind: 'progress', figures: fuzzer.figures() })
}
fuzzer.finish()
send({ kind: 'end', figures: fuzzer.figures(), failure: fuzzer.failure })
