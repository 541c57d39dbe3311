import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { listen } from '../../dist/web/listening.js'
import { Cli, run } from './command.js'

/** The address that it says. */
async function addressOf(cli: Cli): Promise<string> {
  return /http:\S+/.exec(await cli.line(/http:/))?.[0] ?? ''
}

/** Has programs be looked for in a folder of the test, before others where it has any, and else there alone. */
function programs(t: ExecutionContext, files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-open-'))
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), content, { mode: 0o755 })
  }
  const { PATH = '' } = process.env
  process.env.PATH = Object.keys(files).length > 0 ? `${folder}${delimiter}${PATH}` : folder
  t.teardown(() => {
    process.env.PATH = PATH
    rmSync(folder, { recursive: true })
  })
  return folder
}

test.serial('idlest scene serves the page until it is ended', async (t) => {
  const cli = new Cli('scene', '--port', '0')
  const url = await addressOf(cli)
  const response = await fetch(url)
  t.is(response.status, 200)
  t.regex(await response.text(), /<title>idlest/)
  t.is((await fetch(`${url}other`)).status, 404)
  cli.process.kill('SIGTERM')
  t.is(await cli.ended(), 0)
})

test.serial('a port that is taken is said to be', async (t) => {
  const options = { host: '127.0.0.1', port: 0, maxConnections: 1, unref: true }
  const { port, close } = await listen(createServer(), options, { dropped: 0, acceptErrors: 0 })
  t.teardown(close)
  const { code, stderr } = await run('scene', '--port', String(port))
  t.is(code, 1)
  t.regex(stderr, /another socket has this port/)
})

test.serial('--open and --json of the demo exclude each other', async (t) => {
  const { code, stderr } = await run('demo', '--open', '--json')
  t.is(code, 2)
  t.regex(stderr, /cannot be used with/)
})

// There are others on other platforms, that no file of the same name stands in for.
if (process.platform === 'linux') {
  for (const args of [
    ['scene', '--open', '--port', '0'],
    ['demo', '--open'],
  ]) {
    test.serial(`idlest ${args.join(' ')} opens it in the browser`, async (t) => {
      const folder = programs(t, { 'xdg-open': '#!/bin/sh\nprintf %s "$1" > "$0.asked"\nkill -TERM $PPID\n' })
      const cli = new Cli(...args)
      const url = await addressOf(cli)
      t.is(await cli.ended(), 0)
      t.is(readFileSync(join(folder, 'xdg-open.asked'), 'utf8'), url)
    })
  }

  test.serial('without a browser the address is there to be opened', async (t) => {
    programs(t, {})
    const cli = new Cli('scene', '--open', '--port', '0')
    await cli.line(/open that address yourself/)
    cli.process.kill('SIGINT')
    t.is(await cli.ended(), 0)
  })
}
