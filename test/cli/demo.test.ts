import test from 'ava'
import type { DemoResult } from '../../dist/cli/demo/result.js'
import { Cli, gone, left, run } from './command.js'

test.serial('--json prints one document: the same requests in turn and by idlest', async (t) => {
  const { code, stdout, stderr } = await run('demo', '--json', '--duration', '1', '--seed', '7')
  t.is(code, 0, stderr)
  const result = JSON.parse(stdout) as DemoResult
  t.like(result, { seed: 7, scene: { servers: 4, load: 58, duration: 1, reportInterval: 250 } })
  t.true(['native', 'portable'].includes(result.engine))
  t.true(result.scene.share > 0 && result.scene.share <= 0.5)
  t.deepEqual(
    result.phases.map(({ policy }) => policy),
    ['round robin', 'idlest'],
  )
  const [inTurn, idlest] = result.phases
  t.regex(inTurn?.digest ?? '', /^[0-9a-f]{16}$/)
  t.is(inTurn?.digest, idlest?.digest)
  t.is(inTurn?.requests, idlest?.requests)

  for (const { requests, errors, latency, nodes, policy } of result.phases) {
    t.true(requests > 0)
    t.is(errors, 0)
    t.is(nodes.length, 4)
    t.is(
      nodes.reduce((sum, { picks }) => sum + picks, 0),
      requests,
    )
    t.deepEqual(
      nodes.map(({ secondJob }) => secondJob),
      [false, false, true, false],
    )
    for (const { picks, share, cpu } of nodes) {
      t.true(Math.abs(share - (picks / requests) * 100) < 1e-9)
      t.true(cpu > 0)
      if (policy === 'round robin') t.true(Math.abs(picks - requests / 4) < 1)
    }
    const { p50 = 0, p99 = 0, p999 = 0, max = 0 } = latency
    t.true(0 < p50 && p50 <= p99 && p99 <= p999 && p999 <= max)
  }
})

test.serial('Ctrl-C leaves no process behind', async (t) => {
  const demo = new Cli('demo', '--duration', '30')
  await demo.line(/^warming up/)
  const servers = demo.children()
  t.is(servers.length, 4)
  demo.process.kill('SIGINT')
  t.is(await demo.ended(), 130)
  t.deepEqual(left(servers), [])
  t.notRegex(demo.stderr, /error/i)
})

test.serial('Ctrl-C while the servers start leaves no process behind', async (t) => {
  const demo = new Cli('demo', '--duration', '30')
  await demo.line(/^starting/)
  const servers = demo.children()
  demo.process.kill('SIGINT')
  t.is(await demo.ended(), 130)
  t.deepEqual(left(servers), [])
})

test.serial('a demo that is killed leaves no process behind', async (t) => {
  const demo = new Cli('demo', '--duration', '30')
  await demo.line(/^warming up/)
  const servers = demo.children()
  t.is(servers.length, 4)
  demo.process.kill('SIGKILL')
  t.is(await demo.ended(), 'SIGKILL')
  await gone(servers)
  t.deepEqual(left(servers), [])
})

test.serial('a demo that nobody reads ends, and leaves no process behind', async (t) => {
  const demo = new Cli('demo', '--duration', '30')
  await demo.line(/^warming up/)
  const servers = demo.children()
  demo.process.stdout?.destroy()
  t.is(await demo.ended(), 141)
  t.deepEqual(left(servers), [])
})

test.serial('a server that dies ends the demo with an error', async (t) => {
  const demo = new Cli('demo', '--duration', '30')
  await demo.line(/^warming up/)
  const servers = demo.children()
  process.kill(servers[1] as number, 'SIGKILL')
  t.is(await demo.ended(), 1)
  t.regex(demo.stderr, /^error: server \d ended by itself \(SIGKILL\)/)
  t.deepEqual(left(servers), [])
})

test.serial('an engine that is not there is an error', async (t) => {
  process.env.IDLEST_BINDING_PATH = '/nonexistent/idlest.node'
  const demo = new Cli('demo', '--engine', 'native')
  delete process.env.IDLEST_BINDING_PATH
  t.is(await demo.ended(), 1)
  t.regex(demo.stderr, /^error: no native engine/)
})
