import { createRequire } from 'node:module'
import test from 'ava'
import { functionTransport, httpTransport, natsTransport } from '../../dist/index.js'
import { rethrow } from '../../dist/optional-package.js'
import type { Answer } from '../../dist/poller/answer.js'
import { Probes, type TargetProbes } from '../../dist/poller/probes.js'
import { Targets } from '../../dist/poller/targets.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { type Entry, Table } from '../../dist/table/table.js'

class Asked implements TargetProbes {
  readonly ids: string[] = []
  setMembers(): void {}
  ask({ id }: Entry): void {
    this.ids.push(id)
  }
  close(): void {}
}

const transport = (id: string) => {
  if (id === 'own') return functionTransport(async () => ({}))
  return id === 'nats' ? natsTransport({ servers: ['127.0.0.1'] }) : httpTransport()
}

test('each node is probed as it is polled: by the polling thread, on this one, or not at all', (t) => {
  const table = new Table(new VirtualClock())
  const [local, remote] = [new Asked(), new Asked()]
  const probes = new Probes(new Targets(transport), local, remote)
  const settled = new Map<string, Answer>()
  for (const id of ['own', 'nats', 'a:1', 'no/host']) {
    probes.ask(table.claim(id), (answer) => settled.set(id, answer))
  }
  t.deepEqual([local.ids, remote.ids], [['own'], ['a:1']])
  // What it tells comes unasked.
  t.deepEqual(settled.get('nats'), { kind: 'heard' })
  t.is(settled.get('no/host')?.kind, 'error')
  t.is(settled.size, 2)
})

test('without a polling thread all are asked on this one', (t) => {
  const table = new Table(new VirtualClock())
  const local = new Asked()
  const probes = new Probes(new Targets(transport), local, undefined)
  for (const id of ['own', 'a:1']) probes.ask(table.claim(id), () => t.fail())
  t.deepEqual(local.ids, ['own', 'a:1'])
})

test('of a package that is missing it is said what to install', async (t) => {
  const name = '@idlest/no-such-package'
  const message = `the package ${name} is missing: npm install ${name}`
  await t.throwsAsync(import(name).catch(rethrow), { message })
  // As a bundle in CommonJS has it.
  t.throws(() => rethrow(t.throws(() => createRequire(import.meta.url)(name))), { message })
  const error = new Error('no memory')
  t.is(
    t.throws(() => rethrow(error)),
    error,
  )
})
