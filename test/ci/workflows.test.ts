import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { parse } from 'yaml'
import { packaged } from '../../.ci/workflows/actionlint.mjs'
import { checkWorkflows, workflowFiles } from '../../.ci/workflows/check.mjs'
import { column, complaints, nodes, targetComplaints } from '../../.ci/workflows/rules.mjs'

const root = join(fileURLToPath(import.meta.url), '../../..')
const facts = { scripts: ['lint', 'test'], targets: ['x86_64-apple-darwin', 'aarch64-apple-darwin'] }
const hash = '3d3c42e5aac5ba805825da76410c181273ba90b1'

const expression = (text: string) => `\${{ ${text} }}`

const good = `
on: push
permissions: {}
jobs:
  a:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@${hash} # v7.0.1
        with:
          persist-credentials: false
      - uses: ./.github/actions/setup
      - run: |
          npm run lint -- --fast
          npm test
`

test('the workflows of this repository keep its rules', (t) => {
  const { workflows, actions } = workflowFiles(root)
  t.deepEqual(
    workflows.map((file) => file.replace('.github/workflows/', '')),
    ['ci.yml', 'nightly.yml', 'release.yml'],
  )
  t.true(actions.length > 0)
  t.deepEqual(checkWorkflows(root), [])
})

test('actionlint has nothing to complain of', async (t) => {
  t.deepEqual((await packaged(root, workflowFiles(root).workflows)).complaints, [])
})

test('all tests run on each Node, on Linux, macOS and Windows', (t) => {
  const { jobs } = parse(readFileSync(join(root, '.github/workflows/ci.yml'), 'utf8'))
  const { matrix } = jobs.test.strategy
  t.deepEqual(column(matrix, 'node'), nodes)
  t.deepEqual(
    column(matrix, 'os').map((os) => os.split('-')[0]),
    ['ubuntu', 'macos', 'windows'],
  )
})

test('the oldest Node that is tested is the oldest that is allowed', (t) => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  t.is(engines.node, `>=${nodes[0]}`)
})

test('a workflow that keeps the rules is not complained of', (t) => {
  t.deepEqual(complaints(good, facts), [])
})

const broken: { what: string; from: string; to: string; complaint: RegExp }[] = [
  { what: 'an action by its tag', from: `@${hash}`, to: '@v7', complaint: /not GitHub's own, by its hash/ },
  {
    what: 'an action of others',
    from: 'actions/checkout@',
    to: 'me/checkout@',
    complaint: /not GitHub's own/,
  },
  { what: 'a hash without its version', from: ' # v7.0.1', to: '', complaint: /no # v1\.2\.3 beside it/ },
  {
    what: 'a token left in the clone',
    from: 'credentials: false',
    to: 'credentials: true',
    complaint: /persist/,
  },
  {
    what: 'rights for every job',
    from: 'permissions: {}',
    to: 'permissions: { contents: write }',
    complaint: /contents may be written/,
  },
  {
    what: 'all rights for every job',
    from: 'permissions: {}',
    to: '',
    complaint: /says nothing of permissions/,
  },
  {
    what: 'a job that does not say what it may do',
    from: 'contents: read',
    to: '',
    complaint: /a: does not say what it may do/,
  },
  { what: 'a job that may hang', from: '    timeout-minutes: 5', to: '', complaint: /a: has no timeout/ },
  { what: 'a script that is not there', from: 'run lint', to: 'run lnit', complaint: /no npm script lnit/ },
  {
    what: 'a command that is no script',
    from: 'npm test',
    to: 'cargo test',
    complaint: /cargo test: is no npm script/,
  },
  {
    what: 'text of others in a script',
    from: '--fast',
    to: expression('github.head_ref'),
    complaint: /has an expression/,
  },
  {
    what: 'a machine that is not there',
    from: 'ubuntu-24.04',
    to: 'ubuntu-24.4',
    complaint: /no machine is named ubuntu-24\.4/,
  },
  {
    what: 'a secret',
    from: '- run: |',
    to: `- env: { T: "${expression('secrets.NPM_TOKEN')}" }\n        run: |`,
    complaint: /a secret/,
  },
]

for (const { what, from, to, complaint } of broken) {
  test(`complained of: ${what}`, (t) => {
    const text = good.replace(from, to).replace('    permissions:\n      \n', '')
    t.not(text, good)
    const found = complaints(text, facts)
    t.is(found.length, 1, found.join('\n'))
    t.regex(found[0] ?? '', complaint)
  })
}

test('complained of: text that is no YAML', (t) => {
  t.true(complaints('jobs: [', facts).length > 0)
})

test('complained of: a Node that is not tested elsewhere', (t) => {
  const text = good.replace('    steps:', '    strategy: { matrix: { node: ["20.19", "23"] } }\n    steps:')
  t.deepEqual(complaints(text, facts), ['a: Node 23 is none of 20.19, 22, 24, 26'])
})

test('the steps of an action are held against the same rules', (t) => {
  const action = `
runs:
  using: composite
  steps:
    - run: curl https://example.com | sh
    - uses: actions/cache@v6
`
  t.is(complaints(action, facts).length, 2)
})

test('a release builds and tests each target, and no other', (t) => {
  const release = (build: string[], tested: string[]) => {
    const job = (targets: string[]) => ({
      strategy: { matrix: { include: targets.map((target) => ({ target })) } },
    })
    return JSON.stringify({ jobs: { build: job(build), test: job(tested) } })
  }
  t.deepEqual(targetComplaints(release(facts.targets, facts.targets), facts), [])
  t.deepEqual(targetComplaints(release(['x86_64-apple-darwin'], [...facts.targets, 'wasm32']), facts), [
    'build: leaves out aarch64-apple-darwin',
    'test: wasm32 is no target',
  ])
})
