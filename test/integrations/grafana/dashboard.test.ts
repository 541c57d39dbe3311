import { createRequire } from 'node:module'
import test from 'ava'
import { Registry } from 'prom-client'
import { adaptive, weightedRoundRobin } from '../../../dist/index.js'
import { collectBalancer } from '../../../dist/integrations/prometheus/index.js'
import { scrapeAll } from '../prometheus/scrape.js'
import { polling, watched } from '../watched.js'
import { readPromql } from './promql.js'

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly datasource?: { readonly type: string; readonly uid: string }
  readonly targets?: readonly {
    readonly refId: string
    readonly expr: string
    readonly legendFormat: string
  }[]
}

interface Variable {
  readonly name: string
  readonly type: string
  readonly definition?: string
}

interface Dashboard {
  readonly title: string
  readonly uid: string
  readonly schemaVersion: number
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly Variable[] }
}

const root = new URL('../../../', import.meta.url)
const require = createRequire(root)
const dashboard: Dashboard = require('./src/integrations/grafana/dashboard.json')
const graphs = dashboard.panels.filter(({ type }) => type !== 'row')

/** Variables of Grafana's own, and ours, as it puts them in. */
function filledIn(query: string): string {
  return query.replaceAll('$__rate_interval', '1m').replaceAll(/\$(balancer|node)\b/g, '.*')
}

const queries = graphs.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, legendFormat, ...readPromql(filledIn(expr)) })),
)

test('each panel asks for metrics that the exporter tells, by labels that these have', async (t) => {
  const registry = new Registry()
  const { balancer, clock } = polling(t, { name: 'dashboard' })
  collectBalancer(balancer, { registry })
  collectBalancer(
    watched(t, { name: 'fixed', algorithm: weightedRoundRobin({ weights: { a: 2 } }) }).balancer,
    {
      registry,
    },
  )
  collectBalancer(watched(t, { name: 'learning', algorithm: adaptive() }).balancer, { registry })
  await clock.advance(100)
  balancer.acquire().release()

  const labelsOf = new Map<string, Set<string>>()
  for (const { name, labels } of await scrapeAll(registry)) {
    const known = labelsOf.get(name) ?? new Set()
    for (const label of Object.keys(labels)) known.add(label)
    labelsOf.set(name, known)
  }
  t.true(queries.length > graphs.length)
  for (const { title, selectors, grouping, legendFormat } of queries) {
    t.true(selectors.length > 0, title)
    for (const { metric, labels } of selectors) {
      const known = labelsOf.get(metric)
      t.truthy(known, `${title}: ${metric}`)
      t.true(labels.includes('idlest_balancer_name'), `${title}: the choice of a balancer counts`)
      // Prometheus adds who was scraped.
      for (const label of [...labels, ...grouping]) {
        t.true(
          known?.has(label) || ['job', 'instance'].includes(label),
          `${title}: ${metric} has no ${label}`,
        )
      }
    }
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
      t.true(grouping.includes(label), `${title}: its legend has ${label}`)
    }
  }
  for (const { definition = 'label_values(up, job)' } of dashboard.templating.list) {
    const [, query = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? []
    for (const { metric } of readPromql(filledIn(query)).selectors) {
      t.true(metric === 'up' || labelsOf.get(metric)?.has(label), definition)
    }
  }
  const shown = new Set(queries.flatMap(({ selectors }) => selectors.map(({ metric }) => metric)))
  t.deepEqual(
    [...labelsOf.keys()].filter((name) => !shown.has(name)),
    [],
    'all that is told is shown',
  )
})

test('counters are shown as rates', (t) => {
  for (const { title, targets = [] } of graphs) {
    for (const { expr } of targets) {
      for (const [counter] of expr.matchAll(/\w+_(?:total|bucket|sum|count)\{/g)) {
        t.true(expr.includes(`rate(${counter}`), `${title}: ${counter}`)
      }
    }
  }
})

test('panels have ids, titles, a description and a source that can be chosen', (t) => {
  const ids = dashboard.panels.map(({ id }) => id)
  t.is(new Set(ids).size, ids.length)
  for (const { title, description, datasource, targets = [] } of graphs) {
    t.truthy(title)
    t.truthy(description, title)
    t.is(datasource?.type, 'prometheus', title)
    t.regex(datasource?.uid ?? '', /^\$\{datasource\}$/, title)
    const refs = targets.map(({ refId }) => refId)
    t.is(new Set(refs).size, refs.length, title)
  }
  t.deepEqual(
    dashboard.templating.list.map(({ name, type }) => `${name}: ${type}`),
    ['datasource: datasource', 'balancer: query', 'node: query'],
  )
})

test('panels lie within the 24 columns, and none on another', (t) => {
  const taken = new Map<string, string>()
  for (const { title, gridPos } of dashboard.panels) {
    const { x, y, w, h } = gridPos
    t.true(x >= 0 && w > 0 && h > 0 && x + w <= 24, title)
    for (let column = x; column < x + w; column++) {
      for (let line = y; line < y + h; line++) {
        const cell = `${column} ${line}`
        t.is(taken.get(cell), undefined, title)
        taken.set(cell, title)
      }
    }
  }
})
