import type { RequestListener } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import type { UnknownFieldsEvent } from '../../dist/telemetry.js'
import { eventsOf } from '../support/events.js'
import { httpPoller, idOf, readingOf, serve } from './agents.js'

const body =
  (text: string): RequestListener =>
  (_, response) =>
    response.end(text)
const header =
  (text: string): RequestListener =>
  (_, response) => {
    response.setHeader('endpoint-load-metrics', text)
    response.end()
  }

const RIGHT = body('{"cpu_utilization":0.5}')
const NEWER = body('{"cpu_utilization":0.5,"new_field":{"of":"a later version"}}')

/** Polls these agents twice, and gives what is warned of and published. */
async function polledTwice(t: ExecutionContext, name: string, listeners: readonly RequestListener[]) {
  const warnings: string[] = []
  const onWarning = ({ message }: Error) => {
    if (message.startsWith(`${name}: `)) warnings.push(message.slice(name.length + 2))
  }
  process.on('warning', onWarning)
  t.teardown(() => process.off('warning', onWarning))
  const events = eventsOf(t, name, ['idlest:report:unknown-fields'])
  const ids: string[] = []
  for (const listener of listeners) ids.push(idOf(await serve(t, listener)))
  let cycled = () => {}
  const twice = new Promise<void>((resolve) => {
    cycled = resolve
  })
  const { table, poller } = httpPoller(t, {
    name,
    onCycle: () => {
      if (poller.counters.cycles === 2) cycled()
    },
  })
  poller.setMembers(ids.map((id) => table.claim(id)))
  poller.start()
  await twice
  const counters = poller.counted()
  await poller.close()
  await new Promise(setImmediate)
  const published = events.map(([, event]) => event as UnknownFieldsEvent)
  return { ids, table, counters, warnings, published }
}

for (const [what, listener, name] of [
  ['JSON', body('{"cpu_utilisation":0.5}'), 'cpu_utilisation'],
  ['a TEXT header', header('TEXT cpu_utilisation=0.5'), 'cpu_utilisation'],
  ['a JSON header', header('JSON {"cpuUtilisation":0.5}'), 'cpuUtilisation'],
] as const) {
  test(`an agent that misspells its only field in ${what} answers well, is empty, and is warned of once`, async (t) => {
    const mine = `misspelt in ${what}`
    const { ids, counters, warnings, published } = await polledTwice(t, mine, [listener, RIGHT])
    const [node = ''] = ids
    t.is(counters.unknownFields, 2)
    t.is(counters.empty, 2)
    t.is(counters.failing, 0)
    t.deepEqual(warnings, [
      `node "${node}" reports unknown fields, which are ignored: "${name}" (the nearest known field is "cpu_utilization")`,
    ])
    const fields = [{ name, nearest: 'cpu_utilization' }]
    t.deepEqual(published, [{ balancer: mine, node, header: undefined, fields }])
  })
}

test('the known fields of a later version are read', async (t) => {
  const { ids, table, counters, warnings } = await polledTwice(t, 'newer', [NEWER])
  t.is(readingOf(table, ids[0] as string)?.cpu, 50)
  t.is(counters.stored + counters.older, 2)
  t.is(counters.unknownFields, 2)
  t.is(warnings.length, 1)
})

test('many nodes with unknown fields share a warning, which names three', async (t) => {
  const { warnings, published } = await polledTwice(t, 'fleet', Array<RequestListener>(5).fill(NEWER))
  t.is(published.length, 5)
  t.is(warnings.length, 1)
  t.regex(warnings[0] ?? '', /^5 nodes report unknown fields, which are ignored, such as "127/)
  t.is(warnings[0]?.match(/"new_field"/g)?.length, 3)
})

test('agents whose fields are all known are neither counted nor warned of', async (t) => {
  const { counters, warnings, published } = await polledTwice(t, 'right', [RIGHT])
  t.is(counters.unknownFields, 0)
  t.deepEqual([warnings, published], [[], []])
})
