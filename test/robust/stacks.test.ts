import { readFileSync } from 'node:fs'
import test from 'ava'
import { run } from './program.js'

test('with source maps a stack of this repository tells of the sources, at the right lines', async (t) => {
  t.timeout(300_000)
  const { out } = await run('stack.mjs', { flags: ['--enable-source-maps'] })
  const frames = [...out.matchAll(/at (.+) \((?:file:\/\/)?\/?.*\/src\/(.+\.ts):(\d+):\d+\)/g)]
  t.true(frames.length >= 3, out)
  for (const [, , file, line] of frames) {
    const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8').split('\n')
    // A call, or what is thrown.
    t.regex(source[Number(line) - 1] ?? '', /\(|throw|new /, `${file}:${line}`)
  }
})

test('without them a stack names functions and classes', async (t) => {
  t.timeout(300_000)
  const { out } = await run('stack.mjs')
  t.regex(out, /^OptionError: option pol is unknown/)
  t.regex(out, /at createBalancer \(/)
  t.regex(out, /at checkOptions \(/)
})
