import { execFileSync } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { keptAlive } from '../../dist/balancer/keep-alive.js'
import { createBalancer, type FileDiscoveryOptions, fileDiscovery, OptionError } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { warningsOf } from '../support/warnings.js'
import { untilFound } from './support.js'

function folderOf(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-file-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

interface Setting {
  readonly content?: string
  readonly file?: string
  readonly options?: FileDiscoveryOptions
}

// Looked at by events alone, but for tests of what events do not tell.
function setUp(t: ExecutionContext, { content, file = 'nodes', options = {} }: Setting = {}) {
  const folder = folderOf(t)
  const path = join(folder, file)
  if (content !== undefined) writeFileSync(path, content)
  return { folder, path, ...followed(t, path, options) }
}

function followed(t: ExecutionContext, path: string, options: FileDiscoveryOptions = {}) {
  const name = `file of ${t.title}`
  const discovery = fileDiscovery(path, { interval: 60_000, settle: 10, name, ...options })
  const balancer = createBalancer({ nodes: discovery, poll: false, coalesce: 0 })
  t.teardown(() => balancer.close())
  t.teardown(() => discovery.close())
  const ids = () => balancer.nodes.map(({ id }) => id).sort()
  /** Waits until these are the members. */
  const until = async (...wanted: string[]) => {
    await keptAlive(
      untilFound(
        discovery,
        (nodes) =>
          nodes
            .map(({ id }) => id)
            .sort()
            .join() === wanted.join(),
      ),
    )
    t.deepEqual(ids(), wanted)
  }
  const problem = (kind: string) =>
    keptAlive(
      new Promise<void>((resolve) => {
        const listen = (event: unknown) => {
          const heard = event as { discovery: string; kind: string }
          if (heard.discovery !== name || heard.kind !== kind) return
          channel('idlest:discovery:problem').unsubscribe(listen)
          resolve()
        }
        channel('idlest:discovery:problem').subscribe(listen)
      }),
    )
  return { discovery, balancer, name, ids, until, problem }
}

test('a line a node, with comments, blanks and any ends of lines', async (t) => {
  const { until, path } = setUp(t, {
    content: '\uFEFF# all of them\r\n10.0.0.1:80\r\n\r\n  [::1]:80  # this machine\r\nhttp://b/#x\n',
  })
  await until('10.0.0.1:80', '[::1]:80', 'http://b/#x')
  writeFileSync(path, '[::1]:80\n[fd00::1]:80\n')
  await until('[::1]:80', '[fd00::1]:80')
})

test('JSON: an array of ids and objects, or an object with one; weights, priorities and all other fields are kept', async (t) => {
  const { balancer, until, path } = setUp(t, {
    file: 'nodes.json',
    content: '["a", { "id": "b", "weight": 2, "priority": 1, "zone": "x" }]',
  })
  await until('a', 'b')
  t.deepEqual(balancer.nodes, [{ id: 'a' }, { id: 'b', weight: 2, priority: 1, zone: 'x' }])
  t.is(balancer.select().id, 'a')
  const [a] = balancer.nodes
  writeFileSync(path, '{ "nodes": [{ "id": "c" }, { "id": "a" }] }')
  await until('a', 'c')
  t.true(balancer.nodes.includes(a as never))
})

test('a file that is replaced by a rename is read, and so is one that is written in place', async (t) => {
  const { folder, path, until } = setUp(t, { content: 'a\n' })
  await until('a')
  for (const [from, to] of [
    ['b', 'c'],
    ['d', 'e'],
  ] as const) {
    writeFileSync(join(folder, 'next'), `${from}\n`)
    renameSync(join(folder, 'next'), path)
    await until(from)
    writeFileSync(path, `${to}\n`)
    await until(to)
  }
})

test('a file that an editor moves away and writes anew is read, with no problem in between', async (t) => {
  const { path, until, discovery } = setUp(t, { content: 'a\n', options: { settle: 200 } })
  await until('a')
  renameSync(path, `${path}~`)
  writeFileSync(path, 'b\n')
  await until('b')
  t.deepEqual(discovery.stats().problems, { empty: 0, notFound: 0, timeout: 0, failed: 0, invalid: 0 })
})

test('a ConfigMap of Kubernetes is followed: a file behind two links, the folder behind which is swapped', async (t) => {
  const folder = folderOf(t)
  const version = (name: string, content: string) => {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'nodes'), content)
    symlinkSync(name, join(folder, '..data_tmp'))
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
  }
  version('..2024_1', 'a\n')
  const path = join(folder, 'nodes')
  symlinkSync(join('..data', 'nodes'), path)
  const { until } = followed(t, path)
  await until('a')
  version('..2024_2', 'a\nb\n')
  await until('a', 'b')
  rmSync(join(folder, '..2024_1'), { recursive: true })
  version('..2024_3', 'c\n')
  await until('c')
})

test('a file behind a link to another folder is read when it changes there', async (t) => {
  const [folder, other] = [folderOf(t), folderOf(t)]
  writeFileSync(join(other, 'real'), 'a\n')
  symlinkSync(join(other, 'real'), join(folder, 'nodes'))
  const { until } = followed(t, join(folder, 'nodes'))
  await until('a')
  writeFileSync(join(other, 'real'), 'b\n')
  await until('b')
})

test('a file that is gone keeps the members, with one warning, and is read when it is back', async (t) => {
  const { path, until, ids, problem, name } = setUp(t, { content: 'a\nb\n' })
  const warnings = warningsOf(t, 'IDLEST_DISCOVERY', name)
  await until('a', 'b')
  const gone = problem('notFound')
  unlinkSync(path)
  await gone
  t.deepEqual(ids(), ['a', 'b'])
  writeFileSync(path, 'c\n')
  await until('c')
  t.is(warnings.length, 1)
  t.regex(warnings[0] ?? '', /ENOENT.*the 2 known stay/)
})

for (const [what, content, kind] of [
  ['empty', '', 'empty'],
  ['with comments alone', '# nobody\n', 'empty'],
  ['with an empty array', '[]', 'empty'],
  ['half written', '[{ "id": "b" }, { "i', 'invalid'],
  ['with a node twice', 'b\nb\n', 'invalid'],
  ['with a bad weight', '[{ "id": "b", "weight": "2" }]', 'invalid'],
  ['with something that is no node', '{ "nodes": [null] }', 'invalid'],
  ['that is a number', '{ "nodes": 7 }', 'invalid'],
] as const) {
  test(`a file ${what} keeps the members until it is right`, async (t) => {
    const { path, until, ids, problem, discovery } = setUp(t, { content: 'a\n' })
    await until('a')
    const heard = problem(kind)
    writeFileSync(path, content)
    await heard
    t.deepEqual(ids(), ['a'])
    t.is(discovery.stats().problems[kind], 1)
    writeFileSync(path, '["b"]')
    await until('b')
  })
}

test('a list of lines whose last has no end is taken for half of one, for a second', async (t) => {
  const clock = new VirtualClock()
  const { path, ids, discovery } = setUp(t, { content: 'a:1\nb:1\n', options: { clock, interval: 100 } })
  // Time goes on as files are looked at.
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 10) {
      await clock.advance(10)
      for (let i = 0; i < 5; i++) await stat(path)
    }
  }
  while (discovery.nodes.length === 0) await pass(10)
  writeFileSync(path, 'a:1\nb:1\nc:')
  await pass(900)
  t.deepEqual(ids(), ['a:1', 'b:1'])
  appendFileSync(path, '1\n')
  while (discovery.nodes.length === 2) await pass(10)
  t.deepEqual(ids(), ['a:1', 'b:1', 'c:1'])
  const before = clock.now()
  writeFileSync(path, 'd:1')
  while (discovery.nodes.length === 3) await pass(10)
  t.deepEqual(ids(), ['d:1'])
  t.true(clock.now() - before >= 1_000)
})

test('a file whose folder comes later is found by looking now and then, as is one that no event tells of', async (t) => {
  const folder = folderOf(t)
  const path = join(folder, 'later', 'nodes')
  const { until, problem } = followed(t, path, { interval: 20 })
  await problem('notFound')
  mkdirSync(join(folder, 'later'))
  writeFileSync(path, 'a\n')
  await until('a')
  // The folder that is watched is another one after that.
  renameSync(join(folder, 'later'), join(folder, 'former'))
  mkdirSync(join(folder, 'later'))
  writeFileSync(path, 'b\n')
  await until('b')
})

test('a file that stays the same is not told of again, whatever else happens in its folder', async (t) => {
  const { folder, path, until, discovery } = setUp(t, { content: 'a\n' })
  await until('a')
  writeFileSync(join(folder, 'other'), 'x')
  // Another file with the same content.
  writeFileSync(join(folder, 'next'), 'a\n')
  renameSync(join(folder, 'next'), path)
  while (discovery.stats().looks < 2) await new Promise(setImmediate)
  t.like(discovery.stats(), { looks: 2, changes: 1 })
})

test('nothing is watched while nobody follows, and the file is read anew when somebody does again', async (t) => {
  const { path, until, balancer, discovery } = setUp(t, { content: 'a\n' })
  await until('a')
  await balancer.close()
  writeFileSync(path, 'b\n')
  t.deepEqual(
    discovery.nodes.map(({ id }) => id),
    ['a'],
  )
  await keptAlive(untilFound(discovery, ([node]) => node?.id === 'b'))
  t.is(discovery.stats().changes, 2)
})

test('what is called .json has to be JSON', async (t) => {
  const { path, until, ids, problem } = setUp(t, { file: 'nodes.json', content: '["a"]' })
  await until('a')
  const heard = problem('invalid')
  writeFileSync(path, 'b\n')
  await heard
  t.deepEqual(ids(), ['a'])
})

test('a path may be a URL, and what is neither is refused', async (t) => {
  const folder = folderOf(t)
  const path = join(folder, 'nodes')
  writeFileSync(path, 'a\n')
  const discovery = fileDiscovery(pathToFileURL(path))
  t.is(discovery.name, `file:${path}`)
  t.deepEqual(await discovery.ready(), [{ id: 'a' }])
  await discovery.close()
  for (const wrong of ['', 7, undefined, 'a\0b', new URL('http://a/')]) {
    t.throws(() => fileDiscovery(wrong as never), { instanceOf: OptionError })
  }
  t.throws(() => fileDiscovery(path, { intervall: 5 } as never), { instanceOf: OptionError })
})

const pipes = process.platform === 'win32' ? test.skip : test

pipes('a pipe in place of the file is a problem, and holds up nothing', async (t) => {
  const folder = folderOf(t)
  const path = join(folder, 'nodes')
  execFileSync('mkfifo', [path])
  const { discovery, problem } = followed(t, path)
  await problem('failed')
  t.is(discovery.stats().problems.failed, 1)
  unlinkSync(path)
})
