import { barsOf, type QualityBar } from './bars.js'
import type { Outcome } from './run.js'
import type { QualityScene } from './scenes.js'

/** One scene's table in Markdown: a row a policy. */
export function sceneTable(scene: QualityScene, all: readonly Outcome[]): string {
  const rows = all
    .filter((outcome) => outcome.scene === scene.name)
    .map((outcome) => [
      outcome.policy,
      time(outcome.p50),
      time(outcome.p99),
      time(outcome.mean),
      `${outcome.worst.toFixed(2)} x`,
      ...(scene.watched === undefined ? [] : [outcome.watched.slice(0, 6).map(times).join(', ')]),
      barsOf(outcome, all).map(barText).join('; '),
    ])
  const head = [
    'policy',
    'p50',
    'p99',
    'mean',
    'worst window',
    ...(scene.watched === undefined ? [] : ['windows since']),
    'bar',
  ]
  return [
    `### ${scene.name}: ${scene.about}`,
    row(head),
    row(head.map(() => '---')),
    ...rows.map(row),
    '',
  ].join('\n')
}

/** p99 of all policies in all scenes, in Markdown. */
export function overview(scenes: readonly QualityScene[], all: readonly Outcome[]): string {
  const policies = [...new Set(all.map(({ policy }) => policy))]
  const head = ['p99, ms', ...policies]
  const rows = scenes.map(({ name }) => [
    name,
    ...policies.map((policy) => {
      const found = all.find((outcome) => outcome.scene === name && outcome.policy === policy)
      return found === undefined ? '' : plain(found.p99)
    }),
  ])
  return [row(head), row(head.map(() => '---')), ...rows.map(row), ''].join('\n')
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function barText({ what, unit, atMost, reached, met }: QualityBar): string {
  if (reached === undefined) return `${what}: not measured`
  const show = unit === 'ms' ? time : times
  const verdict = met === undefined ? 'not measured' : met ? 'met' : 'MISSED'
  return `${what} ${show(reached)} of ${show(atMost)}: ${verdict}`
}

function times(share: number): string {
  return share.toFixed(2)
}

function time(ms: number): string {
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${plain(ms)} ms`
}

function plain(ms: number): string {
  return ms.toFixed(ms >= 100 ? 0 : 1)
}
