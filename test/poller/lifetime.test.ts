import { spawn } from 'node:child_process'
import { once } from 'node:events'
import test, { type ExecutionContext } from 'ava'
import { idOf, reporting, serve, withResolvers } from './agents.js'

const dist = new URL('../../dist/', import.meta.url)

// A process with a poller, kept alive by nothing but its channel to this one.
function start(t: ExecutionContext, id: string, clock: string, then: string) {
  const script = `
    import { processClock } from '${new URL('process-clock.js', dist)}'
    import { Poller } from '${new URL('poller/poller.js', dist)}'
    import { httpTransport } from '${new URL('poller/transports/http.js', dist)}'
    import { Table } from '${new URL('table/table.js', dist)}'
    const clock = ${clock}
    const table = new Table(clock)
    const poller = new Poller({
      name: 'child', table, clock, interval: 10, startupJitter: 0, timeout: 600_000,
      transport: httpTransport(), random: Math.random,
    })
    poller.setMembers([table.claim('${id}')])
    poller.start()
    ${then}
  `
  // These flags are not for threads; the polling thread has to start nevertheless.
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

const channel = "process.on('message', () => {})"

for (const [what, clock] of [
  ['in the polling thread', 'processClock'],
  ['on the main thread', '{ ...processClock }'],
] as const) {
  test(`a poll in progress ${what} keeps no process alive`, async (t) => {
    const asked = withResolvers<void>()
    let requests = 0
    // The second ask, over the kept connection, is the one that hangs.
    const silent = await serve(t, (request, response) => {
      if (++requests > 1) asked.resolve()
      else reporting(1)(request, response as never)
    })
    const child = start(t, idOf(silent), clock, channel)
    const exited = once(child, 'exit')
    await asked.promise
    child.disconnect()
    t.deepEqual(await exited, [0, null])
  })

  test(`a pause between cycles ${what} keeps no process alive`, async (t) => {
    const again = withResolvers<void>()
    let requests = 0
    const server = await serve(t, (request, response) => {
      if (++requests === 3) again.resolve()
      reporting(1)(request, response as never)
    })
    const child = start(t, idOf(server), clock, channel)
    const exited = once(child, 'exit')
    await again.promise
    child.disconnect()
    t.deepEqual(await exited, [0, null])
  })
}

test('closing is waited for even where nothing else keeps the process alive', async (t) => {
  const server = await serve(t, reporting(1))
  const child = start(
    t,
    idOf(server),
    'processClock',
    'await poller.close(); process.send("closed"); process.disconnect()',
  )
  const [message] = await once(child, 'message')
  t.is(message, 'closed')
  t.deepEqual(await once(child, 'exit'), [0, null])
})
