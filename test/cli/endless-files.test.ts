import { execFileSync } from 'node:child_process'
import {
  closeSync,
  constants,
  createWriteStream,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { openLog } from '../../dist/access-log/source.js'
import { readBounded } from '../../dist/cli/bounded-file.js'
import { run } from './command.js'

const endless = existsSync('/dev/zero') ? test : test.skip

for (const { args, says } of [
  { args: ['simulate', '--replay', '/dev/zero'], says: /^error: .*this is no access log/ },
  { args: ['simulate', '/dev/zero'], says: /^error: .*longer than any scenario/ },
  { args: ['agent', '--tls-cert', '/dev/zero', '--tls-key', '/dev/zero'], says: /at most 1048576 bytes/ },
  {
    args: ['agent', '--nats', 'n', '--nats-id', 'a', '--nats-credentials', '/dev/zero'],
    says: /at most 1048576 bytes/,
  },
  { args: ['simulate', '--replay', '/'], says: /^error: can't read the log: EISDIR/ },
  { args: ['simulate', '/'], says: /^error: can't read the scenario: EISDIR/ },
  { args: ['agent', '--tls-cert', '/', '--tls-key', '/'], says: /EISDIR/ },
]) {
  endless(`idlest ${args.join(' ')} ends, and says what is wrong with the file`, async (t) => {
    const { code, stderr } = await run(...args)
    t.true(code === 1 || code === 2)
    t.regex(stderr, says)
  })
}

/** A pipe with a name. */
function pipe(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-pipe-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  return path
}

for (const args of [
  ['simulate', '--replay', 'PIPE'],
  ['simulate', 'PIPE'],
  ['agent', '--tls-cert', 'PIPE', '--tls-key', 'PIPE'],
  ['agent', '--nats', 'n', '--nats-id', 'a', '--nats-credentials', 'PIPE'],
]) {
  endless(`idlest ${args.join(' ')} ends where nobody writes to the pipe, and says so`, async (t) => {
    const path = pipe(t)
    const { code, stderr } = await run(...args.map((arg) => (arg === 'PIPE' ? path : arg)))
    t.true(code === 1 || code === 2)
    t.regex(stderr, /a pipe that nobody writes to/)
  })
}

endless('a log and a scenario that a command writes to a pipe are read', async (t) => {
  const log = pipe(t)
  const line = (second: number) =>
    `127.0.0.1 - - [10/Oct/2026:13:55:${second} +0000] "GET / HTTP/1.1" 200 5\n`
  createWriteStream(log).end(Array.from({ length: 40 }, (_, i) => line(10 + i)).join(''))
  const replayed = await run('simulate', '--replay', log, '--servers', '2', '--policy', 'random', '--json')
  t.is(replayed.code, 0, replayed.stderr)
  const scenario = pipe(t)
  createWriteStream(scenario).end('{ "servers": -1 }')
  const read = await run('simulate', scenario)
  t.regex(read.stderr, /servers/)
})

/** A pipe that somebody holds open for writing. */
function heldPipe(t: ExecutionContext) {
  const path = pipe(t)
  const fd = openSync(path, constants.O_RDWR)
  t.teardown(() => closeSync(fd))
  return { path, fd }
}

endless('a pipe whose writer says nothing, or nothing more, is given up after a while', async (t) => {
  const { path, fd } = heldPipe(t)
  const read = async () => {
    for await (const _ of await openLog(path, 50));
  }
  for (const text of ['', '127.0.0.1 - -']) {
    if (text.length > 0) writeSync(fd, text)
    t.throws(() => readBounded(path, 1_000, 50), { message: 'nothing came for 0.05 s' })
    if (text.length > 0) writeSync(fd, text)
    await t.throwsAsync(read(), { message: 'nothing came for 0.05 s' })
  }
})
