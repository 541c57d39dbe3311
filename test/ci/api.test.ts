import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { changes, described, due, isBreaking, step } from '../../.ci/api/changes.mjs'
import { exportsOf, itemsOf, reports } from '../../.ci/api/report.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = new URL('../../.github/api/', import.meta.url)

test('the reports of the API in .github/api are of the API as it is', async (t) => {
  t.timeout(180_000)
  const written = new Map(
    readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]),
  )
  const now = await reports(root)
  const changed = described(changes(written, now)).join('\n')
  t.deepEqual(
    [...written],
    [...now].sort(),
    `run \`npm run api -- --write\`, and look at the difference:\n${changed}`,
  )
  for (const [name, report] of now) {
    t.false(report.includes('Warning:'), `${name}: every type that an export refers to is exported`)
    t.false(
      report.includes('(undocumented)'),
      `${name}: every export, and every part of one, says what it is`,
    )
  }
})

/** A report with this code. */
function report(code: string): string {
  return `## API report\n\n\`\`\`ts\n\n${code}\n\`\`\`\n`
}

const OPTIONS = `export interface CallOptions {
    // (undocumented)
    attempts?: number | undefined;
    timeout?: number | undefined;
}

export function call(options?: CallOptions): void;`

function changed(before: string, after: string) {
  return changes(new Map([['idlest.api.md', report(before)]]), new Map([['idlest.api.md', report(after)]]))
}

test('a report is read export by export, without its comments', (t) => {
  t.deepEqual(exportsOf(report(OPTIONS)), ['CallOptions', 'call'])
  t.deepEqual(itemsOf(report(OPTIONS)).get('call'), ['export function call(options?: CallOptions): void;'])
  t.false([...itemsOf(report(OPTIONS)).values()].flat().some((line) => line.includes('undocumented')))
})

test('nothing changed asks for a patch', (t) => {
  t.deepEqual(changed(OPTIONS, OPTIONS), [])
  t.is(step(due([]), '1.2.3'), 'patch')
})

test('an option more is a minor change; one that has to be given, a major one', (t) => {
  const optional = changed(OPTIONS, OPTIONS.replace('    timeout', '    budget?: number;\n    timeout'))
  t.deepEqual(optional, [
    { file: 'idlest.api.md', name: 'CallOptions', removed: [], added: ['    budget?: number;'] },
  ])
  t.is(due(optional), 'minor')
  t.is(due(changed(OPTIONS, OPTIONS.replace('    timeout', '    budget: number;\n    timeout'))), 'major')
})

test('what is only read may have more parts', (t) => {
  const counters = 'export interface CallCounters {\n    calls: number;\n}'
  t.is(due(changed(counters, counters.replace('}', '    retries: number;\n}'))), 'minor')
})

test('an export more is a minor change, one less or one that reads otherwise a major one', (t) => {
  const more = `${OPTIONS}\n\nexport interface OtherOptions {\n    node: string;\n}`
  t.is(due(changed(OPTIONS, more)), 'minor')
  t.is(due(changed(more, OPTIONS)), 'major')
  const other = changed(OPTIONS, OPTIONS.replace('timeout?: number', 'timeout?: string'))
  t.true(other.every(isBreaking))
  t.is(
    described(other).join('\n'),
    'breaking: CallOptions (idlest.api.md)\n' +
      '  -     timeout?: number | undefined;\n' +
      '  +     timeout?: string | undefined;',
  )
})

test('the order of what a type has is no change', (t) => {
  const lines = OPTIONS.split('\n')
  const [a = '', b = ''] = [lines[2], lines[3]]
  t.deepEqual(changed(OPTIONS, OPTIONS.replace(`${a}\n${b}`, `${b}\n${a}`)), [])
})

test('an entry point that is gone breaks, and a new one does not', (t) => {
  const [one, two] = [new Map([['a.api.md', report(OPTIONS)]]), new Map<string, string>()]
  t.is(due(changes(one, two)), 'major')
  t.is(due(changes(two, one)), 'minor')
})

test('before 1.0 what breaks steps the minor version', (t) => {
  t.is(step('major', '0.4.2'), 'minor')
  t.is(step('minor', '0.4.2'), 'minor')
  t.is(step('major', '1.4.2'), 'major')
  t.is(step('minor', '1.4.2'), 'minor')
})
