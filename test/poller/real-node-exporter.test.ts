import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import anyTest, { type ExecutionContext } from 'ava'
import { nodeExporterTransport } from '../../dist/index.js'
import type { Answer } from '../../dist/poller/answer.js'
import { nodeExporterMembers } from '../../dist/poller/cpu-rate.js'
import { resolveNodeExporter } from '../../dist/poller/transports/node-exporter.js'
import { processClock } from '../../dist/process-clock.js'
import { httpPoller, readingOf } from './agents.js'

// Debian's package has the longer name.
const binary = ['prometheus-node-exporter', 'node_exporter'].find(
  (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
)
// Without node_exporter these are shown as skipped.
const test = binary === undefined ? anyTest.skip : anyTest

/** Starts node_exporter on a free port of the loopback; gives its address. */
async function startExporter(t: ExecutionContext, ...options: string[]): Promise<string> {
  const child: ChildProcess = spawn(binary as string, ['--web.listen-address=127.0.0.1:0', ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.teardown(() => child.kill())
  if (child.stderr === null) throw new Error('no stderr')
  const lines = createInterface(child.stderr)
  for await (const line of lines) {
    const address = /address=(127\.0\.0\.1:\d+)/.exec(line)?.[1]
    if (address === undefined) continue
    child.stderr.resume()
    return address
  }
  throw new Error('node_exporter ended')
}

const whole = nodeExporterTransport({ node: (id) => ({ url: `http://${id}/metrics` }) })

// Has all cores busy for so long, ms; gives the CPU time that this process used, of what there was, in percent.
async function burn(ms: number): Promise<number> {
  const began = process.hrtime.bigint()
  const before = process.cpuUsage()
  const work = `const end = Date.now() + ${ms}; while (Date.now() < end);`
  await Promise.all(
    Array.from(
      { length: availableParallelism() },
      () => new Promise((resolve) => new Worker(work, { eval: true }).once('exit', resolve)),
    ),
  )
  const { user, system } = process.cpuUsage(before)
  const wall = Number(process.hrtime.bigint() - began) / 1_000
  return ((user + system) / wall / availableParallelism()) * 100
}

test('the whole page of a real node_exporter is read', async (t) => {
  const id = await startExporter(t)
  const { table, poller } = httpPoller(t, { transport: whole, interval: 100 })
  poller.setMembers([table.claim(id)])
  poller.start()
  while (poller.counters.stored < 2) await new Promise((resolve) => setTimeout(resolve, 20))
  const cpu = readingOf(table, id)?.cpu ?? -1
  t.true(cpu >= 0 && cpu <= 100)
  t.like(poller.counters, { exit: 0, error: 0 })
})

test('what this process burns is in the CPU that a real node_exporter tells', async (t) => {
  const id = await startExporter(t, '--collector.disable-defaults', '--collector.cpu')
  const sink = { push: () => {}, bad: () => {}, unknown: () => {}, stranger: () => {} }
  const members = nodeExporterMembers({ clock: processClock, sink, onFault: () => {} })
  const member = members.make(resolveNodeExporter(id, whole.settings), { slot: 0, generation: 0 })
  t.teardown(() => member.close?.())
  t.deepEqual(await member.ask(), { kind: 'heard' })
  const own = await burn(1_000)
  const answer: Answer = await member.ask()
  if (answer.kind !== 'report') return t.fail(JSON.stringify(answer))
  const { cpu = -1 } = answer.report
  t.log(`own ${own.toFixed(1)} %, node ${cpu.toFixed(1)} %`)
  // The node has other work beside ours, but at least ours; where ticks are counted, not to the millisecond.
  t.true(cpu >= own / 2 && cpu <= 100)
  t.true(own > 0)
})
