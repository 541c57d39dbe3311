import test from 'ava'
import fc from 'fast-check'
import { cellsOf, cut, filled } from '../../../dist/cli/top/text.js'
import { printable } from '../../../dist/printable.js'

// Ids as they are, and as somebody might make them who means harm.
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '\x1b[2J',
    '\x1b]0;title\x07',
    '\x9b31m',
    'a\nb\r\n',
    '\u202eabc',
    '👨‍👩‍👧',
    'データ',
    '\ud800',
  ),
)

test('a printable text has no character that does more than be shown', (t) => {
  fc.assert(
    fc.property(fc.array(text), (parts) => {
      t.notRegex(printable(parts.join('')), /[\p{C}\p{Zl}\p{Zp}]/u)
    }),
  )
})

test('a printable text stays as it is', (t) => {
  for (const id of ['10.0.0.1:8080', 'データベース-東京', 'größe', 'a b']) t.is(printable(id), id)
})

test('escape sequences are seen, not obeyed', (t) => {
  t.is(printable('\x1b[31mred\x1b[0m\nnext\x7f\x9b1m'), '␛[31mred␛[0m␊next␡�1m')
})

test('a text takes just the cells that it is given, whatever is in it', (t) => {
  fc.assert(
    fc.property(
      fc.array(text),
      fc.nat(60),
      fc.constantFrom('left' as const, 'right' as const),
      fc.constantFrom('start' as const, 'middle' as const, 'end' as const),
      (parts, cells, align, where) => {
        t.is(cellsOf(filled(printable(parts.join('')), cells, align, where)), cells)
      },
    ),
  )
})

test('what has no room is cut where it was said', (t) => {
  t.is(cut('abcdefgh', 8), 'abcdefgh')
  t.is(cut('abcdefgh', 5), 'abcd…')
  t.is(cut('abcdefgh', 5, 'start'), '…efgh')
  t.is(cut('abcdefgh', 5, 'middle'), 'ab…gh')
  t.is(cut('abcdefgh', 1), '…')
  t.is(cut('abcdefgh', 0), '')
})

test('a wide character is not cut in two', (t) => {
  t.is(cut('データベース', 6), 'デー…')
  t.is(filled('データベース', 6), 'デー… ')
  t.is(filled('データ', 8, 'right'), '  データ')
})
