import test from 'ava'
import { hasNats } from '../nats/server.js'
import { engines } from '../support/engines.js'
import { type Block, blocks, placeOf } from './blocks.js'
import { CompiledExamples } from './compiled.js'
import { type Example, exampleOf, examples } from './examples.js'
import { startWorld } from './world.js'

const SOURCES = ['ts', 'js']
/** Examples that run at a time: most of each is waiting for its process to start. */
const AT_ONCE = 3

const sources = blocks.filter(({ language }) => SOURCES.includes(language))
const known = sources.flatMap((block): [Block, Example][] => {
  const example = exampleOf(block)
  return typeof example === 'string' ? [] : [[block, example]]
})

test('every example is known to the tests, and every known one is there once', (t) => {
  for (const block of sources) {
    const example = exampleOf(block)
    if (typeof example === 'string') t.fail(`${placeOf(block)}: ${example}`)
  }
  for (const example of examples) {
    t.is(known.filter(([, one]) => one === example).length, 1, `${example.file}: ${example.has}`)
  }
})

test('the examples compile, run, and come to what they say', async (t) => {
  t.timeout(300_000)
  const world = await startWorld(t)
  const compiled = await CompiledExamples.make(t, known, world)
  t.is(compiled.errors, '')
  const has = { 'nats-server': hasNats, native: process.platform === 'linux' && engines.includes('native') }
  const runnable = known.filter(([block, { needs }]) => {
    if (needs === undefined || has[needs]) return true
    t.log(`${placeOf(block)}: there is no ${needs}`)
    return false
  })
  const wrong = await compiled.runAll(runnable, AT_ONCE)
  t.is(wrong.join(''), '')
})
