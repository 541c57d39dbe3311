import { readFileSync } from 'node:fs'
import test from 'ava'
import { scenarioSchema } from '../../dist/scenario/scenario.js'

const text = readFileSync(new URL('../../.github/docs/scenarios.md', import.meta.url), 'utf8')

test('every field of a scenario is documented', (t) => {
  const { entries } = scenarioSchema.pipe[1]
  for (const field of Object.keys(entries)) t.regex(text, new RegExp(`^\\| .*\`${field}\``, 'm'), field)
})
