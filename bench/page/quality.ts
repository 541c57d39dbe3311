import { digits } from '../numbers.js'
import { barsOf } from '../quality/bars.js'
import { overview, sceneTable } from '../quality/report.js'
import type { QualityResults } from '../quality/results.js'
import { neighbours, scenes } from '../quality/scenes.js'
import { bold, code, table } from './markdown.js'

/** What came of all policies in all scenes, and which bars `adaptive` meets. */
export function qualitySection({ date, commit, seeds, requests, outcomes }: QualityResults): string {
  const measured = (all: typeof scenes) =>
    all.filter(({ name }) => outcomes.some(({ scene }) => scene === name))
  const judged = outcomes
    .filter(({ policy }) => policy === 'adaptive')
    .flatMap((one) => barsOf(one, outcomes))
  const missed = judged.filter(({ met }) => met === false)
  return [
    `By \`npm run quality -- --write\` on ${date.slice(0, 10)}${commit === undefined ? '' : `, commit ${commit}`}: ${seeds} ${seeds === 1 ? 'run' : 'runs'} of each scene${requests === 1 ? '' : `, with ${requests} of its requests`}, the shipped algorithms in virtual`,
    'time, means over the runs. In the name of a scene the last number is that of the balancers. `prequal` has probes that servers answer at once.',
    `Of what is wanted of \`adaptive\` ${missed.length === 0 ? `all ${judged.length} bars are met` : `${missed.length} of ${judged.length} bars are missed`}.`,
    '',
    overview(measured(scenes), outcomes),
    ...measured(scenes).map((scene) => sceneTable(scene, outcomes)),
    ...(measured(neighbours).length === 0
      ? []
      : ['### Near those scenes', overview(measured(neighbours), outcomes)]),
  ]
    .join('\n')
    .trimEnd()
}

const MS_A_S = 1_000

/** p99 of all policies in the scenes that have bars, and what is wanted of `adaptive`; the lowest in bold. */
export function qualityOverview({ seeds, outcomes }: QualityResults): string {
  const policies = [...new Set(outcomes.map(({ policy }) => policy))]
  const rows = scenes.flatMap(({ name, about }) => {
    const all = outcomes.filter(({ scene }) => scene === name)
    const adaptive = all.find(({ policy }) => policy === 'adaptive')
    if (adaptive === undefined) return []
    const bar = barsOf(adaptive, outcomes).find(({ unit }) => unit === 'ms')
    const least = Math.min(...all.map(({ p99 }) => p99))
    const cells = policies.map((policy) => {
      const p99 = all.find((one) => one.policy === policy)?.p99
      if (p99 === undefined) return ''
      return p99 === least ? bold(p99Cell(p99)) : p99Cell(p99)
    })
    return [[about, bar === undefined ? '' : p99Cell(bar.atMost), ...cells]]
  })
  return [
    table(['p99, ms', 'wanted', ...policies.map(code)], rows),
    '',
    `By \`npm run quality -- --write\`, ${seeds} ${seeds === 1 ? 'run' : 'runs'} of each, the shipped algorithms; \`prequal\` with probes that servers answer at once.`,
  ].join('\n')
}

function p99Cell(ms: number): string {
  return ms >= MS_A_S ? `${digits(ms / MS_A_S)} s` : digits(ms)
}
