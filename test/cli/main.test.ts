import { once } from 'node:events'
import { createRequire } from 'node:module'
import test from 'ava'
import { Cli, run } from './command.js'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

const wrong = [
  { args: ['dmo'], says: /unknown command 'dmo'[\s\S]*demo/ },
  { args: ['agnet', '--port', '1'], says: /unknown command 'agnet'[\s\S]*agent/ },
  { args: ['demo', '--sed', '3'], says: /unknown option '--sed'[\s\S]*--seed/ },
  {
    args: ['demo', '--duration', 'long'],
    says: /'long' is invalid. Expected a number of seconds from 1 to 600/,
  },
  { args: ['demo', '--duration', '0'], says: /seconds from 1 to 600/ },
  { args: ['demo', '--duration', ''], says: /seconds from 1 to 600/ },
  { args: ['demo', '--load', '101'], says: /percent from 1 to 100/ },
  { args: ['demo', '--seed', '-1'], says: /whole number from 0/ },
  { args: ['demo', '--seed', '1.5'], says: /whole number from 0/ },
  { args: ['demo', '--engine', 'rust'], says: /auto, native, portable/ },
  { args: ['demo', 'now'], says: /too many arguments/ },
  { args: ['--verson'], says: /unknown option '--verson'[\s\S]*--version/ },
  { args: [], says: /Usage: idlest/ },
] as const

for (const { args, says } of wrong) {
  test(`idlest ${args.join(' ')}: exits with 2 and says what is wrong`, async (t) => {
    const { code, stdout, stderr } = await run(...args)
    t.is(code, 2)
    t.is(stdout, '')
    t.regex(stderr, says)
  })
}

test('--version prints the version of the package', async (t) => {
  t.deepEqual(await run('--version'), { code: 0, stdout: `${version}\n`, stderr: '' })
})

test('--help names the commands', async (t) => {
  const { code, stdout } = await run('--help')
  t.is(code, 0)
  t.regex(stdout, /^ +demo .*\n/m)
  t.regex(stdout, /^ +agent .*\n/m)
  t.regex(stdout, /^ +top .*\n/m)
  t.regex(stdout, /^ +scene .*\n/m)
})

test('idlest agent serves reports until it is ended', async (t) => {
  const agent = new Cli('agent', '--sample-interval', '20')
  const url = /http:\S+/.exec(await agent.line(/listening/))?.[0] as string
  const { status } = await fetch(url)
  t.true(status === 200 || status === 503)
  const exit = once(agent.process, 'exit')
  agent.process.kill('SIGTERM')
  await exit
  t.is(await agent.ended(), 0)
})
