import test, { type ExecutionContext } from 'ava'
import { createBalancer, leastCpu } from '../../../dist/index.js'
import { hasTmux, Terminal } from './tmux.js'

/** A balancer that is served, whose nodes have reported 1 %, 2 % and so on. */
async function served(t: ExecutionContext, ids: readonly string[]) {
  const balancer = createBalancer({
    name: 'checkout',
    nodes: ids,
    algorithm: leastCpu({ threshold: 5, ttl: 600_000 }),
    poll: false,
  })
  t.teardown(() => balancer.close())
  for (const [i, id] of ids.entries()) balancer.report(id, { cpu: (i + 1) % 100 })
  const { url, port, close } = await balancer.serve({ interval: 100 })
  return { balancer, url, port, close }
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `10.0.0.${i}:8080`)

/** The first view has come. */
const SEEN = /why not picked\n[\s\S]*\/ filter$/

const USUAL = { alternate: false, cursor: true, wraps: true }

if (hasTmux) {
  test.serial('at 80 columns nodes are seen with what matters most', async (t) => {
    const { url } = await served(t, numbered(30))
    const terminal = await Terminal.open(t, 80, 24)
    await terminal.run(`idlest top ${url}`)
    const screen = await terminal.until(SEEN)
    t.is(screen.length, 24)
    t.regex(screen[0] ?? '', /^checkout {2}leastCpu, (native|portable) engine, up /)
    t.is(screen[1], '30 nodes: 30 up; 24 not picked now')
    t.regex(screen[4] ?? '', /^ {2}node +state +cpu%▼ +lately +age +share% +flight why not picked$/)
    t.regex(screen[5] ?? '', /^› 10\.0\.0\.29:8080 +up +30 +▃+ +\S+ +0 +0 outside the band/)
    t.true(screen.every((line) => line.length <= 80))
    t.deepEqual(await terminal.modes(), { alternate: true, cursor: false, wraps: false })
  })

  test.serial('at 200 columns all is seen, and on another size it is drawn anew', async (t) => {
    const { url } = await served(t, numbered(30))
    const terminal = await Terminal.open(t, 200, 50)
    await terminal.run(`idlest top ${url} --sort node`)
    const wide = await terminal.until(SEEN)
    t.regex(
      wide[4] ?? '',
      /node▼ +state +cpu% .* weight +latency +failed +ejected +poll errors why not picked$/,
    )
    t.is(wide.length, 50)
    await terminal.resize(80, 24)
    const narrow = await terminal.until(/ flight why not picked\n[\s\S]*\/ filter$/)
    t.is(narrow.length, 24)
    await terminal.resize(200, 30)
    t.is((await terminal.until(/ poll errors why not picked\n[\s\S]*\/ filter$/)).length, 30)
  })

  test.serial('keys move, sort and filter', async (t) => {
    const { url } = await served(t, numbered(30))
    const terminal = await Terminal.open(t, 80, 24)
    await terminal.run(`idlest top ${url}`)
    await terminal.until(SEEN)
    await terminal.keys('End')
    await terminal.until(/^› 10\.0\.0\.0:8080/m)
    await terminal.keys('1')
    await terminal.until(/^ {2}node▼/m)
    await terminal.keys('Home', '/', '0.2', 'x')
    await terminal.until(/^filter: 0\.2x/m)
    await terminal.keys('BSpace', 'Enter')
    const screen = await terminal.until(/^filter: 0\.2 \(11 of 30; Esc: all\)$/m)
    t.is(screen.filter((line) => /^[› ] 10\.0\.0\.2/.test(line)).length, 11)
  })

  for (const [how, keys, code] of [
    ['by q', ['q'], 0],
    ['by Ctrl-C', ['C-c'], 130],
  ] as const) {
    test.serial(`when it is left ${how}, the terminal is as it was`, async (t) => {
      const { url } = await served(t, numbered(3))
      const terminal = await Terminal.open(t, 80, 24)
      await terminal.run('stty -a | cksum; echo before')
      const before = (await terminal.until(/^before$/m)).find((line) => /^\d+ \d+$/.test(line))
      await terminal.run(`idlest top ${url}; echo exit $?`)
      await terminal.until(SEEN)
      await terminal.keys(...keys)
      const after = await terminal.until(/^exit \d+$/m)
      t.true(after.includes(`exit ${code}`))
      t.true(after.includes('before'), 'what was on the screen is there again')
      t.deepEqual(await terminal.modes(), USUAL)
      await terminal.run('clear; stty -a | cksum; echo after')
      t.true((await terminal.until(/^after$/m)).includes(before ?? 'none'))
    })
  }

  test.serial('when it is ended by a signal, the terminal is as it was', async (t) => {
    const { url } = await served(t, numbered(3))
    const terminal = await Terminal.open(t, 80, 24)
    await terminal.run(`sh -c 'echo pid $$; read go; exec idlest top ${url}'; echo exit $?`)
    const pid = Number(/^pid (\d+)$/m.exec((await terminal.until(/^pid \d+$/m)).join('\n'))?.[1])
    await terminal.keys('Enter')
    await terminal.until(SEEN)
    process.kill(pid, 'SIGTERM')
    t.true((await terminal.until(/^exit \d+$/m)).includes('exit 143'))
    t.deepEqual(await terminal.modes(), USUAL)
  })

  test.serial('it is suspended by Ctrl-Z, and comes back', async (t) => {
    const { url } = await served(t, numbered(3))
    const terminal = await Terminal.open(t, 80, 24)
    await terminal.run(`idlest top ${url}`)
    await terminal.until(SEEN)
    await terminal.keys('C-z')
    await terminal.until(/^\$ *$(?![\s\S]*q quit)/m)
    t.deepEqual(await terminal.modes(), USUAL)
    await terminal.run('fg')
    await terminal.until(SEEN)
    t.true((await terminal.modes()).alternate)
    await terminal.keys('q')
    await terminal.until(/^\$ *$(?![\s\S]*q quit)/m)
  })

  test.serial('ids of any characters are in their column, and do nothing to the terminal', async (t) => {
    const ids = [
      '\x1b[2J\x1b]0;owned\x07\nnext',
      'データベース-東京',
      '👨‍👩‍👧‍👦❤️🇩🇪',
      'e\u0301\u202eabc',
      `${'long'.repeat(255)}end`,
    ]
    const { url } = await served(t, ids)
    const terminal = await Terminal.open(t, 80, 24)
    await terminal.run(`idlest top ${url}`)
    const screen = await terminal.until(SEEN)
    t.is(screen.length, 24)
    const rows = screen.slice(5, 10)
    t.true(
      rows.some((row) => row.includes('␛[2J␛]0')),
      rows.join('\n'),
    )
    t.true(rows.some((row) => row.includes('データ')))
    // Terminals make different widths of emoji: where columns are is asked of tmux, cell by cell.
    for (const row of rows) t.regex(row, / up +[1-5] +▁/)
    t.regex(rows.find((row) => row.includes('longl')) ?? '', /…\S+end +up/)
  })

  test.serial('a lost connection is told, and is made again', async (t) => {
    const { balancer, url, port, close } = await served(t, numbered(3))
    const terminal = await Terminal.open(t, 120, 24)
    await terminal.run(`idlest top ${url}`)
    await terminal.until(SEEN)
    await close()
    const screen = await terminal.until(
      /^connection lost, this is the last that was heard: .*; trying again$/m,
    )
    t.regex(screen[5] ?? '', /10\.0\.0\.2:8080/)
    await balancer.serve({ port, interval: 100 })
    await terminal.until(/why not picked\n(?![\s\S]*connection lost)/)
  })

  test.serial('5,000 nodes are gone through by keys', async (t) => {
    const { url } = await served(t, numbered(5_000))
    const terminal = await Terminal.open(t, 200, 50)
    await terminal.run(`idlest top ${url} --sort node`)
    await terminal.until(/^› 10\.0\.0\.0:8080/m)
    await terminal.keys('End')
    await terminal.until(/^› 10\.0\.0\.4999:8080/m)
    await terminal.keys('PageUp', 'Home', '/', '4321', 'Enter')
    const screen = await terminal.until(/^filter: 4321 \(1 of 5000; Esc: all\)$/m)
    t.regex(screen[5] ?? '', /^› 10\.0\.0\.4321:8080 /)
  })
} else {
  console.log('tests in a terminal are left out: there is no tmux here')
  // ava takes a file without any test for a mistake.
  test('a balancer is served where there is no terminal to look at it', async (t) => {
    const { url } = await served(t, numbered(1))
    t.is((await fetch(new URL('snapshot', url))).status, 200)
  })
}
