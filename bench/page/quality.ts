import { barsOf } from '../quality/bars.js'
import { overview, sceneTable } from '../quality/report.js'
import type { QualityResults } from '../quality/results.js'
import { neighbours, scenes } from '../quality/scenes.js'

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

/** p99 alone, of all policies in the scenes that have bars. */
export function qualityOverview({ outcomes }: QualityResults): string {
  return overview(
    scenes.filter(({ name }) => outcomes.some(({ scene }) => scene === name)),
    outcomes,
  ).trimEnd()
}
