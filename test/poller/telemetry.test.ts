import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import test, { type ExecutionContext } from 'ava'
import { ClosedError } from '../../dist/errors.js'
import { FailureReports } from '../../dist/poller/failures.js'
import type { PollEvent, RemoteErrorEvent } from '../../dist/telemetry.js'
import { virtualPoller } from './agents.js'

// Channels and warnings belong to the process: one test at a time.

function heard<T>(t: ExecutionContext, ...names: string[]): [name: string, message: T][] {
  const events: [string, T][] = []
  for (const name of names) {
    // A copy: what is published goes on changing.
    const listener = (message: unknown) => events.push([name, { ...(message as T) }])
    subscribe(name, listener)
    t.teardown(() => unsubscribe(name, listener))
  }
  return events
}

const START = 'tracing:idlest:poll:start'
const END = 'tracing:idlest:poll:end'
const ERROR = 'tracing:idlest:poll:error'
const REMOTE = 'idlest:poll:remote-error'

test.serial('a cycle tells of its start and its end, with duration and counts', async (t) => {
  const events = heard<PollEvent>(t, START, END, ERROR)
  const { clock, table, poller, asks } = virtualPoller({ name: 'mine' })
  poller.setMembers(['a', 'b', 'c'].map((id) => table.claim(id)))
  poller.start()
  await clock.advance(0)
  t.deepEqual(events, [[START, { balancer: 'mine', cycle: 1 }]])
  asks[0]?.answer({ cpu: 1 })
  asks[1]?.fail(new Error('gone'))
  await clock.advance(2_000)
  t.deepEqual(events.slice(1), [
    [END, { balancer: 'mine', cycle: 1, duration: 2_000, asked: 3, stored: 1, failed: 2 }],
  ])
})

test.serial('a cycle that is cut short by close tells of an error, then of its end', async (t) => {
  const events = heard<PollEvent>(t, START, END, ERROR)
  const { clock, table, poller } = virtualPoller()
  poller.setMembers([table.claim('a')])
  poller.start()
  await clock.advance(700)
  await poller.close()
  await clock.advance(0)
  t.deepEqual(
    events.map(([name]) => name),
    [START, ERROR, END],
  )
  const event = events[1]?.[1]
  t.true(event?.error instanceof ClosedError)
  t.is(event?.duration, 700)
})

test.serial('each failure of a remote is told with its kind and reason', async (t) => {
  const events = heard<RemoteErrorEvent>(t, REMOTE)
  const { clock, table, poller, asks } = virtualPoller({ name: 'mine' })
  poller.setMembers(['a', 'b', 'c'].map((id) => table.claim(id)))
  poller.start()
  await clock.advance(0)
  asks[0]?.fail(new Error('connect ECONNREFUSED'))
  asks[1]?.answer({ cpu: Number.NaN })
  await clock.advance(2_000)
  const told = events.map(([, event]) => event)
  t.deepEqual(
    told.map(({ balancer, node, kind }) => [balancer, node, kind]),
    [
      ['mine', 'a', 'exit'],
      ['mine', 'b', 'error'],
      ['mine', 'c', 'exit'],
    ],
  )
  t.regex(told.map(({ reason }) => reason).join('\n'), /ECONNREFUSED\n.*cpu.*\nno answer within 2000 ms/)
  t.like(poller.counters, { exit: 2, error: 1 })
})

test.serial('subscribers that throw change nothing of what the poller does', async (t) => {
  const thrown: Error[] = []
  process.setUncaughtExceptionCaptureCallback((error) => thrown.push(error))
  t.teardown(() => process.setUncaughtExceptionCaptureCallback(null))
  for (const name of [START, END, REMOTE]) {
    const listener = () => {
      throw new Error(name)
    }
    subscribe(name, listener)
    t.teardown(() => unsubscribe(name, listener))
  }
  const { clock, table, poller, asks } = virtualPoller()
  poller.setMembers([table.claim('a'), table.claim('b')])
  poller.start()
  for (let cycle = 1; cycle <= 3; cycle++) {
    await clock.advance(cycle === 1 ? 0 : 5_000)
    asks.at(-2)?.answer({ cpu: cycle })
    asks.at(-1)?.fail(new Error('gone'))
    await clock.advance(0)
    t.like(poller.counters, { cycles: cycle, stored: cycle, exit: cycle })
    t.is(table.publications, cycle)
  }
  t.deepEqual(
    thrown.map(({ message }) => message),
    [START, REMOTE, END, START, REMOTE, END, START, REMOTE, END],
  )
})

async function warningsOf(t: ExecutionContext, act: () => void): Promise<string[]> {
  const warnings: string[] = []
  const listener = (warning: Error & { code?: string }) => {
    if (warning.name === 'IdlestWarning') warnings.push(`${warning.code}: ${warning.message}`)
  }
  process.on('warning', listener)
  t.teardown(() => process.off('warning', listener))
  act()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', listener)
  return warnings
}

const exit = (node: string) => ({ node, kind: 'exit', reason: 'refused' }) as const
const error = (node: string) => ({ node, kind: 'error', reason: 'status 500' }) as const

test.serial('failures of the polling thread are told but not warned of node by node', async (t) => {
  const events = heard<RemoteErrorEvent>(t, REMOTE)
  const warnings = await warningsOf(t, () => {
    new FailureReports('mine').report([{ ...exit('a'), thread: true }])
  })
  t.deepEqual(warnings, [])
  t.is(events.length, 1)
})

test.serial('a node that keeps failing is warned of once per kind, until it answers again', async (t) => {
  const reports = new FailureReports('mine')
  const warnings = await warningsOf(t, () => {
    reports.report([exit('a'), exit('b')])
    reports.report([exit('a'), exit('b')])
    reports.report([error('a'), exit('b')])
    reports.report([exit('a'), exit('b')])
    // a answers, b goes on failing.
    reports.report([exit('b')])
    reports.report([exit('a'), exit('b')])
  })
  t.deepEqual(warnings, [
    'IDLEST_POLL_EXIT: mine: node "a" can\'t be polled: refused',
    'IDLEST_POLL_EXIT: mine: node "b" can\'t be polled: refused',
    'IDLEST_POLL_ERROR: mine: node "a" can\'t be polled: status 500',
    'IDLEST_POLL_EXIT: mine: node "a" can\'t be polled: refused',
  ])
  t.is(reports.warned, 4)
})

test.serial(
  'many nodes that fail in one round share a warning per kind, and each is on the channel',
  async (t) => {
    const events = heard<RemoteErrorEvent>(t, REMOTE)
    const reports = new FailureReports('mine')
    const ids = Array.from({ length: 200 }, (_, i) => `n${i}`)
    const warnings = await warningsOf(t, () => {
      reports.report([...ids.map(exit), error('x')])
      reports.report([...ids.map(exit), error('x')])
      for (const id of ids) reports.bad(id, 'sleepy')
      reports.report(ids.map(exit))
    })
    const many = 'nodes can\'t be polled, such as "n0": refused; "n1": refused; "n2": refused'
    t.deepEqual(warnings, [
      `IDLEST_POLL_EXIT: mine: 200 ${many}`,
      'IDLEST_POLL_ERROR: mine: node "x" can\'t be polled: status 500',
      ...['n0', 'n1', 'n2'].map((id) => `IDLEST_POLL_ERROR: mine: node "${id}" said something wrong: sleepy`),
      'IDLEST_POLL_ERROR: mine: 197 nodes said something wrong, such as "n3": sleepy; "n4": sleepy; "n5": sleepy',
    ])
    t.is(events.length, 201 + 201 + 200 + 200)
    t.is(reports.warned, 401)
  },
)

test.serial('what a node writes reaches warnings, the channel and failures escaped', async (t) => {
  const events = heard<RemoteErrorEvent>(t, REMOTE)
  const reports = new FailureReports('mine')
  const wild = 'a\u001b[2Jb\nc\u009bd\u202ee\u2028f\u007fg'
  const warnings = await warningsOf(t, () => {
    reports.bad('a', wild)
    reports.report([{ ...exit('b\u202e'), reason: wild }])
  })
  const texts = [...warnings, ...events.map(([, { reason }]) => reason), reports.of('b\u202e')?.reason ?? '']
  t.is(texts.length, 5)
  for (const text of texts) {
    t.true(text.includes('a␛[2Jb␊c�d�e�f␡g'), text)
    t.notRegex(text, /[\p{C}\p{Zl}\p{Zp}]/u)
  }
})

test.serial(
  'a node that says something wrong, beside its answers, is warned of once, until it has not for a cycle',
  async (t) => {
    const events = heard<RemoteErrorEvent>(t, REMOTE)
    const reports = new FailureReports('mine')
    const warnings = await warningsOf(t, () => {
      for (let cycle = 0; cycle < 3; cycle++) {
        reports.bad('a', 'sleepy: an unknown word')
        reports.report([])
      }
      reports.report([])
      reports.bad('a', 'sleepy: an unknown word')
    })
    t.deepEqual(
      warnings,
      Array.from(
        { length: 2 },
        () => 'IDLEST_POLL_ERROR: mine: node "a" said something wrong: sleepy: an unknown word',
      ),
    )
    t.is(reports.warned, 2)
    t.is(events.length, 4)
  },
)
