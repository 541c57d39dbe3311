import test from 'ava'
import { engines } from '../support/engines.js'
import { type Block, placeOf } from './blocks.js'
import { comments } from './comments.js'
import { CompiledExamples } from './compiled.js'
import { type CommentExample, commentExamples } from './examples/comments.js'
import { startWorld } from './world.js'

/** Examples that run at a time: most of each is waiting for its process to start. */
const AT_ONCE = 3

/** The examples for a block. */
function examplesFor({ file, text }: Block): CommentExample[] {
  return commentExamples.filter((one) => one.file === file && text.includes(one.has))
}

test('every example of a comment is known to the tests, and every known one is there once', (t) => {
  for (const block of comments) {
    t.is(
      examplesFor(block).length,
      1,
      `${placeOf(block)}: say in test/docs/examples/comments.ts what it comes to`,
    )
  }
  for (const example of commentExamples) {
    const blocks = comments.filter((block) => examplesFor(block).includes(example))
    t.is(blocks.length, 1, `${example.file}: ${example.has}`)
  }
})

test('the examples of comments compile, run, and come to what they say', async (t) => {
  t.timeout(300_000)
  const world = await startWorld(t)
  const known = comments.flatMap((block): [Block, CommentExample][] =>
    examplesFor(block).map((example) => [block, example]),
  )
  const compiled = await CompiledExamples.make(t, known, world)
  t.is(compiled.errors, '')
  const hasNative = process.platform === 'linux' && engines.includes('native')
  const runnable = known.filter(([, { compiledAlone, needs }]) => {
    return compiledAlone !== true && (needs !== 'native' || hasNative)
  })
  const wrong = await compiled.runAll(runnable, AT_ONCE)
  t.is(wrong.join(''), '')
})
