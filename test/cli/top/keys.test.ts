import type { Key } from 'node:readline'
import test from 'ava'
import { press } from '../../../dist/cli/top/keys.js'
import { TopModel } from '../../../dist/cli/top/model.js'
import { liveView } from './views.js'

const size = { columns: 80, rows: 24 }

function modelOf(count: number): TopModel {
  const model = new TopModel('')
  model.show(liveView(count))
  return model
}

const named: Record<string, Key> = {
  down: { name: 'down', sequence: '\x1b[B' },
  up: { name: 'up', sequence: '\x1b[A' },
  pagedown: { name: 'pagedown', sequence: '\x1b[6~' },
  home: { name: 'home', sequence: '\x1b[H' },
  end: { name: 'end', sequence: '\x1b[F' },
  escape: { name: 'escape', sequence: '\x1b', meta: true },
  return: { name: 'return', sequence: '\r' },
  backspace: { name: 'backspace', sequence: '\x7f' },
}

function pressAll(model: TopModel, ...keys: string[]) {
  return keys
    .map((key) => press(model, named[key] ?? { name: key.toLowerCase(), sequence: key }, size))
    .at(-1)
}

test('s and S go through the columns that are shown, r turns the order around', (t) => {
  const model = modelOf(8)
  pressAll(model, 's')
  t.is(model.sorting.sort, 'history')
  pressAll(model, 'S', 'S')
  t.is(model.sorting.sort, 'state')
  pressAll(model, 'r')
  t.true(model.sorting.reverse)
  pressAll(model, 's')
  t.like(model.sorting, { sort: 'cpu', reverse: false })
  pressAll(model, 's', 's', 's', 's', 's', 's')
  t.is(model.sorting.sort, 'node')
})

test('a digit sorts by that column as it is shown, twice the other way around', (t) => {
  const model = modelOf(8)
  pressAll(model, '5')
  t.like(model.sorting, { sort: 'age', reverse: false })
  pressAll(model, '5')
  t.like(model.sorting, { sort: 'age', reverse: true })
  pressAll(model, '9')
  t.is(model.sorting.sort, 'age')
})

test('arrows and pages move the selection, not beyond the ends', (t) => {
  const model = modelOf(100)
  const index = () => model.window(14).index
  pressAll(model, 'up')
  t.is(index(), 0)
  pressAll(model, 'down', 'j', 'k', 'down')
  t.is(index(), 2)
  pressAll(model, 'pagedown')
  t.is(index(), 15)
  pressAll(model, 'end', 'down')
  t.is(index(), 99)
  pressAll(model, 'home')
  t.is(index(), 0)
  pressAll(model, 'G')
  t.is(index(), 99)
  pressAll(model, 'g')
  t.is(index(), 0)
})

test('the filter takes all letters, and is there as it is typed', (t) => {
  const model = modelOf(8)
  pressAll(model, '/', ...'qrs')
  t.is(model.sorting.filter, 'qrs')
  t.is(model.rows.length, 0)
  pressAll(model, 'backspace', 'backspace', 'backspace', 'backspace', ...'drain')
  t.is(model.rows.length, 1)
  pressAll(model, 'return')
  t.false(model.typing)
  t.is(model.sorting.filter, 'drain')
  pressAll(model, 'escape')
  t.is(model.rows.length, 8)
})

test('Escape leaves the filter and shows all', (t) => {
  const model = modelOf(8)
  pressAll(model, '/', ...'drain', 'escape')
  t.false(model.typing)
  t.is(model.rows.length, 8)
})

test('control characters do not get into the filter', (t) => {
  const model = modelOf(8)
  pressAll(model, '/')
  press(model, { name: 'f5', sequence: '\x1b[15~' }, size)
  press(model, { name: 'tab', sequence: '\t' }, size)
  press(model, { sequence: '東' }, size)
  t.is(model.sorting.filter, '東')
})

test('q quits but while the filter is typed, Ctrl-C and Ctrl-Z always work', (t) => {
  const model = modelOf(8)
  t.is(pressAll(model, 'q'), 'quit')
  t.is(pressAll(model, '/', 'q'), undefined)
  t.is(press(model, { name: 'c', ctrl: true, sequence: '\x03' }, size), 'interrupt')
  t.is(press(model, { name: 'z', ctrl: true, sequence: '\x1a' }, size), 'suspend')
  t.is(model.sorting.filter, 'q')
})

test('keys do no harm before the first view, and without nodes', (t) => {
  const before = new TopModel('')
  const empty = modelOf(0)
  for (const model of [before, empty]) {
    pressAll(model, 'down', 'up', 'end', 'pagedown', 's', 'S', '3', 'r', '/', 'x', 'escape', 'G', 'k')
    t.is(model.selected, undefined)
  }
})
