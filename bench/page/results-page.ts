import { TOPICS } from '../case.js'
import type { QualityResults } from '../quality/results.js'
import type { Results } from '../results.js'
import { figureSections } from './figures.js'
import { barsSection, head } from './head.js'
import { Lookup } from './lookup.js'
import { table } from './markdown.js'
import { peersSection } from './peers.js'
import { qualitySection } from './quality.js'
import { topicSection } from './topics.js'

/** The whole page of results. */
export function resultsPage(results: Results, quality: QualityResults | undefined): string {
  const numbers = new Lookup(results)
  const sections = [
    head(results),
    barsSection(results),
    ...TOPICS.map((topic) => {
      if (topic === 'peers') return peersSection(numbers)
      const section = topicSection(topic, numbers)
      return topic === 'threads' ? `${section}\n\n${throughput(results)}` : section
    }),
    ...figureSections(results),
    ...(quality === undefined ? [] : [`## Algorithms in the simulator\n${qualitySection(quality)}`]),
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

function throughput({ threads }: Results): string {
  return table(
    ['threads that pick', 'engine', 'million picks a second, each'],
    threads.map(({ threads, engine, picksPerSecond }) => [
      `${threads}`,
      engine,
      (picksPerSecond / 1e6).toFixed(1),
    ]),
    2,
  )
}
