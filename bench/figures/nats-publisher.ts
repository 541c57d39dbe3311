// Publishes reports as nodes do: `nats-publisher.ts ADDRESS NODES`, and then messages that say how. Tells how many.
import { setTimeout } from 'node:timers/promises'
import { connect } from '@nats-io/transport-node'
import { subjectOf } from '../../dist/nats/subject.js'
import { writeOrcaJson } from '../../dist/reports/orca-json.js'
import { LAST, nodeOf, type Publishing, QUIET } from './nats.js'

// A report a second of each node, in so many parts.
const PARTS = 100
const SECOND = 1_000
// As many as are on the way at a time.
const FLUSH_EVERY = 1_000

// At first all are told again and again, so that the one that hears knows when it does.
const AGAIN = 100

const [address = '', nodes = '0'] = process.argv.slice(2)
const subjects = Array.from({ length: Number(nodes) }, (_, node) => subjectOf('idlest.report', nodeOf(node)))
const nats = await connect({ servers: address })

function publish(index: number, cpu = index % 50): void {
  const rest = {
    application: 40,
    memory: 61.5,
    qps: 120,
    eps: 0.5,
    inFlight: 7,
    state: 'up',
    age: 0,
  } as const
  nats.publish(subjects[index % subjects.length] as string, writeOrcaJson({ cpu, ...rest }))
}

async function steady(time: number): Promise<number> {
  const began = performance.now()
  let count = 0
  for (let part = 1; performance.now() - began < time; part++) {
    for (const end = Math.floor((part * subjects.length) / PARTS); count < end; count++) publish(count)
    await setTimeout(Math.max(0, began + (part * SECOND) / PARTS - performance.now()))
  }
  return count
}

async function flood(count: number): Promise<number> {
  for (let index = 0; index < count; index++) {
    publish(index)
    if (index % FLUSH_EVERY === 0) await nats.flush()
  }
  return count
}

const timer = setInterval(() => {
  for (const index of subjects.keys()) publish(index)
}, AGAIN)

process.on('message', async (publishing: Publishing) => {
  clearInterval(timer)
  const { kind } = publishing
  const count =
    kind === 'quiet' ? 0 : kind === 'steady' ? await steady(publishing.time) : await flood(publishing.count)
  publish(0, kind === 'quiet' ? QUIET : LAST)
  await nats.flush()
  process.send?.(count + 1)
})
process.send?.('ready')
