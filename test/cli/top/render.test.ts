import { stripVTControlCharacters } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import { TopModel } from '../../../dist/cli/top/model.js'
import { plain } from '../../../dist/cli/top/paint.js'
import { render } from '../../../dist/cli/top/render.js'
import { cellsOf } from '../../../dist/cli/top/text.js'
import type { LiveView } from '../../../dist/live/live-view.js'
import { liveNode, liveView, viewOf } from './views.js'

function linesOf(
  view: LiveView | undefined,
  columns: number,
  rows: number,
  change?: (model: TopModel) => void,
) {
  const model = new TopModel('http://127.0.0.1:9090/')
  if (view !== undefined) model.show(view)
  change?.(model)
  return render(model, { columns, rows }, plain).map((line) => stripVTControlCharacters(line).trimEnd())
}

test('at 80 columns there is what matters most, and of the selected node the rest', (t) => {
  t.deepEqual(linesOf(liveView(8), 80, 24), [
    'checkout  leastCpu, native engine, up 3h',
    '8 nodes: 5 up, 1 suspect, 1 ejected, 1 drain; 4 not picked now',
    '900 picks/s, 1,234,567 in all, 0 found no node, 24 in flight  █',
    'polls every 5,000 ms, 1 failing: 12 cycles, 96 asked, 90 stored, 4 bad, 2 silent',
    '  node           state   cpu%▼   lately   age  share%  flight why not picked',
    '› 10.0.0.1:8080  ejected    97        █  1.2s       0       3 ejected for 12 s …',
    '  10.0.0.3:8080  drain      81        ▇  1.2s    12.5       3 drains: told by t…',
    '  10.0.0.6:8080  up         72        ▆  1.2s    12.5       3',
    '  10.0.0.0:8080  up         71        ▆  1.2s       0       3 outside the band:…',
    '  10.0.0.7:8080  up         49        ▄  1.2s    12.5       3',
    '  10.0.0.2:8080  up         44        ▄   14s    12.5       3 report is 14 s ol…',
    '  10.0.0.5:8080  up         35        ▃  1.2s    12.5       3',
    '  10.0.0.4:8080  suspect     2        ▁  1.2s    12.5       3',
    ...Array.from({ length: 6 }, () => ''),
    '10.0.0.1:8080',
    'not picked: ejected for 12 s after 5 failures in a row · CPU 97.0 % · 1.20 s old',
    'share 0 % · sent 13.0 % · 3 in flight · 4,200 picks, 120/s',
    '4,190 released, 40 failed · latency 12 ms · 130 served/s',
    'q quit  ↑↓ PgUp PgDn move  s/S sort  1-9 by column  r reverse  / filter',
  ])
})

test('at 200 columns there is all', (t) => {
  const [, , , , head, ...rows] = linesOf(liveView(8), 200, 24)
  t.is(
    head?.replace(/ +/g, ' '),
    ' node state cpu%▼ lately age share% sent% flight picks/s weight latency failed ejected poll errors why not picked',
  )
  t.regex(
    rows[0] ?? '',
    /^› 10\.0\.0\.1:8080 +ejected +97 +█ +1\.2s +0 +13\.0 +3 +120 +12ms +40 +12s +ejected for 12 s after 5 failures in a row$/,
  )
  t.true(rows.some((row) => /14s .* 3 report is 14 s old, ttl is 10 s$/.test(row)))
})

test('no line is wider than the screen, and there are no more than it has, whatever the size and the texts', (t) => {
  const id = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1024 }),
    fc.constant('x'.repeat(1024)),
  )
  const nodes = fc.array(fc.record({ id, why: fc.option(id, { nil: undefined }) }), { maxLength: 30 })
  fc.assert(
    fc.property(
      nodes,
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 60 }),
      fc.nat(30),
      (given, columns, rows, down) => {
        const lines = linesOf(viewOf(given.map((node) => liveNode(node))), columns, rows, (model) =>
          model.move(down),
        )
        t.true(lines.length <= rows)
        for (const line of lines) {
          t.true(cellsOf(line) <= columns, line)
          t.notRegex(line, /[\p{C}\p{Zl}\p{Zp}]/u)
        }
      },
    ),
    { numRuns: 200 },
  )
})

test('ids that reach for the terminal are seen as what they are', (t) => {
  const evil = '\x1b[2J\x1b[31m\nevil'
  const view = viewOf([liveNode({ id: evil, why: 'x\x1b[1A' })])
  const lines = linesOf({ ...view, balancer: '\x1b]0;owned\x07' }, 200, 24)
  t.true(lines[0]?.startsWith('␛]0;owned␇  leastCpu'))
  t.regex(lines[5] ?? '', /^› ␛\[2J␛\[31m␊evil .* x␛\[1A$/)
})

test('what comes behind a text of wide characters is where it is in other rows', (t) => {
  const model = new TopModel('http://127.0.0.1:9090/')
  model.show(viewOf([liveNode({ id: 'abc' }), liveNode({ id: 'データ' })]))
  const wide = render(model, { columns: 80, rows: 24 }, plain).find((line) => line.includes('データ'))
  // The column after the one of ids, whatever the terminal made of it.
  t.true(wide?.startsWith('  データ        \x1b[17G up'))
})

test('a balancer without polling and without nodes is shown too', (t) => {
  const lines = linesOf({ ...viewOf([]), poll: undefined }, 80, 24)
  t.is(lines[1], '0 nodes')
  t.is(lines[3], 'no polling')
  t.is(lines[5], '  no nodes')
})

test('what is not known is left blank', (t) => {
  const node = liveNode({
    id: 'new',
    cpu: undefined,
    age: undefined,
    fresh: false,
    sentShare: undefined,
    latency: undefined,
  })
  const lines = linesOf(viewOf([node]), 80, 24)
  t.regex(lines[5] ?? '', /^› new +up +· +12\.5 +3 *$/)
})

test('all is told of the selected node', (t) => {
  const node = liveNode({
    id: 'n',
    told: { weight: 50, maxInFlight: 20 },
    suspect: 'failing',
    weight: 3.5,
    cost: 12.25,
    poll: { count: 2, kind: 'error', reason: 'status 503' },
    report: {
      cpu: 40,
      qps: 130,
      eps: 2,
      memory: 70,
      application: 30,
      inFlight: 9,
      latency: 8,
      queueDelay: 1.5,
    },
  })
  const told = linesOf(viewOf([node]), 200, 24)
    .slice(-5)
    .join(' ')
  for (const fact of [
    'up, may be picked',
    'suspect, since it claims to be idle while requests fail: half of its share',
    'CPU 40.0 %',
    '1.20 s old',
    'cost 12 ms',
    'weight 3.5',
    'asks for 50 % of its share',
    '3 in flight of 20 at most',
    '2 polls failed, the last: status 503',
    'application 30 %',
    'memory 70 %',
    '130 served/s',
    '2 errors/s',
    '9 in flight there',
  ]) {
    t.true(told.includes(fact), `${fact} is not in ${told}`)
  }
})

test('a lost connection is told of, above what was heard last', (t) => {
  const lines = linesOf(liveView(2), 120, 24, (model) => model.lose(new Error('connect ECONNREFUSED')))
  t.is(lines.at(-2), 'connection lost, this is the last that was heard: connect ECONNREFUSED; trying again')
  t.regex(lines[5] ?? '', /10\.0\.0/)
})

test('where there never was a connection, it is said so', (t) => {
  t.true(linesOf(undefined, 80, 24).includes('connecting …'))
  const lines = linesOf(undefined, 80, 24, (model) => model.lose(new Error('the balancer answered 401')))
  t.true(lines.includes('no connection: the balancer answered 401; trying again'))
})

test('on a small screen nodes come first', (t) => {
  const lines = linesOf(liveView(8), 40, 5)
  t.regex(lines[0] ?? '', /^checkout/)
  t.regex(lines[1] ?? '', /^ {2}node +state +cpu%▼/)
  t.is(lines.length, 5)
})

test('colours are those of the trouble', (t) => {
  const model = new TopModel('http://127.0.0.1:9090/')
  model.show(
    viewOf([
      liveNode({ id: 'a', cpu: 99 }),
      liveNode({ id: 'b', cpu: 96 }),
      liveNode({ id: 'c', cpu: 85, fresh: false }),
    ]),
  )
  const lines = render(model, { columns: 80, rows: 24 }, (style, text) => `<${style}>${text}</>`)
  t.true(lines[5]?.startsWith('<inverse>› a'))
  t.true(lines[6]?.includes('<red>   96</>'))
  t.true(lines[7]?.includes('<yellow>   85</>') && lines[7].includes('<yellow> 1.2s</>'))
})
