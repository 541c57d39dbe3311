import { parser } from '@prometheus-io/lezer-promql'

/** A selector of a query: the metric, and the labels that it names. */
export interface Selector {
  readonly metric: string
  readonly labels: readonly string[]
}

/** What a query of Prometheus names. */
export interface Named {
  readonly selectors: readonly Selector[]
  /** Labels by which it groups. */
  readonly grouping: readonly string[]
}

/**
 * Reads a query by Prometheus' own grammar.
 * @throws where it is none
 */
export function readPromql(query: string): Named {
  const selectors: { metric: string; labels: string[] }[] = []
  const grouping: string[] = []
  let isGrouping = false
  parser.parse(query).iterate({
    enter({ type, from, to }) {
      const text = query.slice(from, to)
      if (type.isError) throw new Error(`${query}: wrong at ${from}`)
      if (type.name === 'VectorSelector') selectors.push({ metric: '', labels: [] })
      if (type.name === 'GroupingLabels') isGrouping = true
      const selector = selectors.at(-1)
      if (type.name === 'Identifier' && selector !== undefined && selector.metric === '')
        selector.metric = text
      if (type.name === 'LabelName') (isGrouping ? grouping : (selector?.labels ?? [])).push(text)
    },
    leave({ type }) {
      if (type.name === 'GroupingLabels') isGrouping = false
    },
  })
  return { selectors, grouping }
}
