import test from 'ava'
import { viewLine, wholeTable } from '../../../dist/cli/top/lines.js'
import { DEFAULT_SORTING } from '../../../dist/cli/top/model.js'
import { liveNode, liveView, viewOf } from './views.js'

test('one table has all nodes and all columns, but for what a single look does not know', (t) => {
  const lines = wholeTable(liveView(8), DEFAULT_SORTING).split('\n')
  t.deepEqual(lines.slice(0, 4), [
    'checkout  leastCpu, native engine, up 3h',
    '8 nodes: 5 up, 1 suspect, 1 ejected, 1 drain; 4 not picked now',
    '900 picks/s, 1,234,567 in all, 0 found no node, 24 in flight',
    'polls every 5,000 ms, 1 failing: 12 cycles, 96 asked, 90 stored, 4 bad, 2 silent',
  ])
  t.deepEqual(
    lines[5]?.split('│').map((cell) => cell.trim()),
    '|node|state|cpu%|age|share%|sent%|flight|picks/s|weight|latency|failed|ejected|poll errors|why not picked|'.split(
      '|',
    ),
  )
  t.is(lines.length, 4 + 8 + 4)
  t.regex(lines[7] ?? '', /10\.0\.0\.1:8080 +│ ejected │ +97 │/)
})

test('a table is no wider than the terminal, and no cell is without end', (t) => {
  const view = viewOf([liveNode({ id: 'x'.repeat(1_024), why: 'y'.repeat(1_000) })])
  for (const width of [80, 120, 200]) {
    const [, , , , ...lines] = wholeTable(view, DEFAULT_SORTING, width).split('\n')
    t.true(Math.max(...lines.map((line) => line.length)) <= width, `${width}`)
  }
  t.true(
    Math.max(
      ...wholeTable(view, DEFAULT_SORTING)
        .split('\n')
        .map((line) => line.length),
    ) < 400,
  )
})

test('lines have no control characters, whatever a node is called', (t) => {
  const view = viewOf([liveNode({ id: '\x1b[2J\nnext', why: '\x07' })])
  t.notRegex(wholeTable(view, DEFAULT_SORTING).replaceAll('\n', ''), /\p{C}/u)
  t.is(wholeTable(view, DEFAULT_SORTING).split('\n').length, 9)
})

test('a view is one line in a log', (t) => {
  t.is(
    viewLine(liveView(8), new Date(0)),
    '1970-01-01T00:00:00.000Z 900 picks/s, 0 empty; 8 nodes: 5 up, 1 suspect, 1 ejected, 1 drain; 4 not picked now; CPU 2 / 49 / 97 % (least, median, most); polls: 1 failing',
  )
  t.is(
    viewLine({ ...viewOf([]), poll: undefined }, new Date(0)),
    '1970-01-01T00:00:00.000Z 900 picks/s, 0 empty; 0 nodes; no CPU known',
  )
})
