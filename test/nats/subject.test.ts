import test from 'ava'
import fc from 'fast-check'
import { idOf, isSubject, subjectOf, wildcard } from '../../dist/nats/subject.js'

// As ids of nodes may be, of the characters that mean something in a subject or its encoding above all.
const ids = fc.string({
  unit: fc.oneof(
    fc.constantFrom('.', '*', '>', ' ', ':', '%', '\t', '\n', '$', '[', 'é', '€', '🦥'),
    fc.string({ minLength: 1, maxLength: 1 }),
  ),
  minLength: 1,
  maxLength: 300,
})

test('each id is one part of a subject, without wildcards and spaces, and is read back', (t) => {
  fc.assert(
    fc.property(ids, (id) => {
      const subject = subjectOf('idlest.report', id)
      const parts = subject.split('.')
      t.deepEqual(parts.slice(0, 2), ['idlest', 'report'])
      t.is(parts.length, 3)
      t.regex(parts[2] ?? '', /^[\w%-]+$/)
      t.is(idOf('idlest.report', subject), id)
    }),
  )
})

test('ids that differ have subjects that differ', (t) => {
  fc.assert(
    fc.property(ids, ids, (one, other) => {
      t.is(subjectOf('a', one) === subjectOf('a', other), one === other)
    }),
  )
})

test('the subject of an address can be read', (t) => {
  t.is(subjectOf('idlest.report', '10.0.0.1:8080'), 'idlest.report.10%2E0%2E0%2E1%3A8080')
  t.is(subjectOf('load', 'web-1'), 'load.web-1')
  t.is(wildcard('idlest.report'), 'idlest.report.*')
})

test('other spellings of an id are read as the same', (t) => {
  t.is(idOf('load', 'load.10%2e0%2e0%2e1%3a80'), '10.0.0.1:80')
  t.is(idOf('load', 'load.web~1'), 'web~1')
  t.is(idOf('load', 'load.50%'), undefined)
  t.is(idOf('load', 'load.%ff'), undefined)
})

test('an id that a server would not take is refused', (t) => {
  t.notThrows(() => subjectOf('idlest.report', ':'.repeat(1_024)))
  t.throws(() => subjectOf('idlest.report', '€'.repeat(1_024)), {
    instanceOf: RangeError,
    message: /at most/,
  })
  t.throws(() => subjectOf('idlest.report', 'a\ud800'), { instanceOf: RangeError, message: /surrogate/ })
})

test('reports go below subjects of plain parts', (t) => {
  for (const right of ['idlest', 'idlest.report', 'a_b.c-d.$e.7']) t.true(isSubject(right), right)
  for (const wrong of [
    '',
    '.',
    'a.',
    '.a',
    'a..b',
    'a.*',
    'a.>',
    'a b',
    'a\r\nPUB x 0',
    'é',
    'a'.repeat(257),
    7,
  ]) {
    t.false(isSubject(wrong), String(wrong))
  }
})
