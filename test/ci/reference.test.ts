import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { categories, categoryOf } from '../../.ci/api/categories.mjs'
import { reference } from '../../.ci/api/reference.mjs'
import { temporaryFolder } from './folder.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

test('the API reference is made without a warning: no link leads nowhere, and all that is named is there', async (t) => {
  t.timeout(180_000)
  const folder = temporaryFolder(t)
  const into = await reference(root, join(folder, 'docs'))
  t.is(into, join(folder, 'docs'), 'typedoc warned, above')
  const pages = (of: string) => readdirSync(join(folder, 'docs', of))
  t.deepEqual(pages('modules').sort(), [
    'idlest.html',
    'idlest_grpc.html',
    'idlest_opentelemetry.html',
    'idlest_prometheus.html',
    'idlest_undici.html',
  ])
  t.true(pages('documents').includes('How_it_works.html'))
  t.false(existsSync(join(folder, 'docs/interfaces/idlest.Entry.html')), 'what is internal has no page')
  const module = readFileSync(join(folder, 'docs/modules/idlest.html'), 'utf8')
  const headings = [...module.matchAll(/<h2[^>]*>([A-Z][a-z ]+)/g)].map(([, heading = '']) => heading)
  t.deepEqual(
    headings.filter((heading) => categories.includes(heading)),
    categories.filter((category) => headings.includes(category)),
  )
  t.true(headings.includes('Algorithms') && headings.includes('Errors'))
})

test('files have the category of the first place that they are in', (t) => {
  t.is(categoryOf('balancer/lease.d.ts'), 'Leases')
  t.is(categoryOf('balancer/contract.d.ts'), 'Balancer')
  t.is(categoryOf('elsewhere/new.d.ts'), undefined)
  t.true(['errors.d.ts', 'agent/agent.d.ts'].every((file) => categories.includes(categoryOf(file) ?? '')))
})
