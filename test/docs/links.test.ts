import { readFileSync } from 'node:fs'
import test from 'ava'
import { documents, linesOf } from './blocks.js'
import { anchorsOf, complaintOf, linksOf, pages } from './links.js'

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  scripts: Record<string, string>
}

test('every link within the documentation leads to a file, and to a heading of it', (t) => {
  const links = pages.flatMap((page) => linksOf(page))
  t.true(links.length > 50)
  t.deepEqual(
    links.map(complaintOf).filter((complaint) => complaint !== undefined),
    [],
  )
})

test('every page of the documentation is reached from its index', (t) => {
  const index = '.github/docs/index.md'
  const reached = new Set(linksOf(index).map(({ target }) => target.split('#')[0]))
  const names = documents.filter((page) => page !== index).map((page) => page.replace('.github/docs/', ''))
  t.deepEqual(
    names.filter((name) => !reached.has(name === 'README.md' ? '../../README.md' : name)),
    [],
  )
})

test('links are found where they are, and anchors are those that GitHub makes', (t) => {
  t.deepEqual(
    linksOf('a.md', ['[a](b.md#c), `[no](d)` and [e](https://f)', '| [g](#h) |']).map(({ line, target }) => [
      line,
      target,
    ]),
    [
      [1, 'b.md#c'],
      [2, '#h'],
    ],
  )
  t.deepEqual(
    [
      ...anchorsOf([
        '# With undici, and `fetch`',
        'text',
        '## By gRPC',
        '### By gRPC',
        '#no',
        '## select(nodes)',
      ]),
    ],
    ['with-undici-and-fetch', 'by-grpc', 'by-grpc-1', 'selectnodes'],
  )
  t.is(
    complaintOf({ file: 'README.md', line: 3, target: 'nowhere.md' }),
    'README.md:3: there is no nowhere.md',
  )
  t.is(
    complaintOf({ file: 'README.md', line: 3, target: '#nowhere' }),
    'README.md:3: README.md has no heading #nowhere',
  )
})

test('every script that a page names is there', (t) => {
  const named = pages.flatMap((page) =>
    linesOf(page).flatMap((line, i) =>
      [...line.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, script = '']) => ({
        at: `${page}:${i + 1}`,
        script,
      })),
    ),
  )
  t.true(named.length > 20)
  t.deepEqual(
    named.filter(({ script }) => !Object.hasOwn(scripts, script)),
    [],
  )
})
