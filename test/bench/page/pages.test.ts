import test from 'ava'
import { barsOf } from '../../../bench/bars.js'
import { fillSections } from '../../../bench/page/markdown.js'
import { pagesOf, RESULTS_PAGE, sectionsOf } from '../../../bench/page/pages.js'
import { resultsPage } from '../../../bench/page/results-page.js'
import { makePages, readTexts } from '../../../bench/page/write.js'
import { readResults } from '../../../bench/results.js'
import { caseResult, resultsOf } from '../results-of.js'

test('pages are what the kept results make of them, and nothing was typed', (t) => {
  t.not(readResults(), undefined)
  const texts = readTexts()
  const { pages } = makePages()
  t.true(pages.has(RESULTS_PAGE))
  for (const [path, text] of pages) t.is(texts.get(path), text, `${path}: npm run bench -- --page`)
})

const cases = [
  caseResult('select()', 'native', 8, 16),
  caseResult('select()', 'portable', 8, 30),
  caseResult('select(freshArray)', '-', 8, 300, 'arrays'),
  caseResult('hashring, get(key), not cached', '-', 1_000, 4_000, 'peers'),
]

test('a table has both engines of a case beside each other, and what is missed in bold', (t) => {
  const page = resultsPage(resultsOf(cases), undefined)
  t.regex(
    page,
    /\| select\(\) \| 8 \| 16\.0 ns \(14\.4-17\.6\) \| 0\.800 \(0\.720-0\.880\) \| 30\.0 ns .* \| 1\.20 \|/,
  )
  t.regex(
    page,
    /\| select\(freshArray\) \| 8 \| 300 ns \(270-330\) \| \*\*15\.0 \(13\.5-16\.5\)\*\* \| 12\.0 \|/,
  )
})

test('bars that are missed are listed first', (t) => {
  const page = resultsPage(resultsOf(cases), undefined)
  t.regex(
    page,
    /\*\*1 of \d are missed\*\*:\n- select\(freshArray\), 8 nodes, to the floor: 15\.0 x, wanted 12\.0 x\n\n/,
  )
})

test('a bar that was not measured counts neither as met nor as missed', (t) => {
  const summaryOf = (given: typeof cases) =>
    sectionsOf(resultsOf(given, { bars: barsOf(given) }), undefined).get('summary') ?? ''
  t.regex(
    summaryOf(cases),
    /Missed: 1 of 2 bars; in bold where one stands here; \d+ more were not measured\./,
  )
  t.regex(summaryOf(cases.slice(0, 1)), /All 1 bars are met; \d+ more were not measured\./)
})

test('what is compared is told with its version', (t) => {
  t.regex(resultsPage(resultsOf(cases), undefined), /\| hashring 3\.2\.0, get\(key\), not cached \|/)
})

test('a page says where its figures are from, and when they are not to be believed', (t) => {
  const steady = resultsPage(resultsOf(cases), undefined)
  t.regex(steady, /on 2030-01-02/)
  t.regex(steady, /4 x A CPU, 16 GiB, governor unknown/)
  t.regex(steady, /a steady machine/)
  t.notRegex(steady, /not to be believed/)
  const steadiness = { floor: { median: 20, p10: 10, p90: 40 }, loadBefore: 9, loadAfter: 9, others: 0.5 }
  const busy = resultsPage(resultsOf(cases, { steadiness }), undefined)
  t.regex(busy, /not to be believed\*\*: others used 50\.0 % .*; the floor went up and down by 4\.00 times/)
})

test('text is put between markers, and all else stays', (t) => {
  const text = 'a\n<!-- bench:one -->\nold\n<!-- /bench:one -->\nb <!-- bench:two -->x<!-- /bench:two -->'
  const { text: filled, found } = fillSections(text, new Map([['one', 'new $1']]))
  t.is(filled, 'a\n<!-- bench:one -->\nnew $1\n<!-- /bench:one -->\nb <!-- bench:two -->x<!-- /bench:two -->')
  t.deepEqual(found, ['one', 'two'])
})

test('pages without markers are left alone', (t) => {
  const texts = new Map([
    ['README.md', '# x\n<!-- bench:summary -->\n<!-- /bench:summary -->\n'],
    ['.github/docs/other.md', '# y\n'],
  ])
  const { pages, found } = pagesOf(resultsOf(cases), undefined, texts)
  t.deepEqual([...pages.keys()], ['README.md', RESULTS_PAGE])
  t.deepEqual(found, ['summary'])
  t.regex(
    pages.get('README.md') ?? '',
    /\| `select\(\)` by `leastCpu\(\)`, 8 nodes \| 16\.0 ns \| 30\.0 ns \| 0\.800 \| 1\.20 \|/,
  )
})

test('figures of a quick run are on no other page than that of the results', (t) => {
  t.deepEqual([...sectionsOf(resultsOf(cases, { quick: true }), undefined).keys()], [])
  t.regex(
    resultsPage(resultsOf(cases, { quick: true }), undefined),
    /not to be believed\*\*: it was a quick run/,
  )
})
