import test from 'ava'
import { corpusOf } from './corpus.js'
import { targets } from './targets.js'

for (const target of targets) {
  test(`${target.name}: what fuzzing starts from is read or refused as it should be, and some of it is read`, (t) => {
    const inputs = corpusOf(target.name)
    t.true(inputs.length > 1)
    const read = inputs.filter((input) => target.check(input)).length
    t.true(read > 0)
  })
}
