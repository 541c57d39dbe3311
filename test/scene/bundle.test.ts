import { fileURLToPath } from 'node:url'
import { TextDecoder, TextEncoder } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import test from 'ava'
import { build } from 'esbuild'
import { standIns } from '../../.ci/pages.mjs'
import { DEFAULTS, type ScenePolicy, scenePolicies } from '../../dist/scene/model/inputs.js'
import { SceneRun } from '../../dist/scene/model/run.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

// Minified as in the pages; what is global there stays so.
async function bundled(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: `${root}/src/scene/model`, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    globalName: 'model',
    logLevel: 'silent',
    plugins: [standIns(root)],
  })
  return outputFiles[0]?.text ?? ''
}

const figures = `
  const { SceneRun, DEFAULTS, scenePolicies } = model
  JSON.stringify(Object.keys(scenePolicies).map((policy) => {
    const run = new SceneRun({ ...DEFAULTS, balancers: 3 }, policy)
    run.advanceTo(25_000)
    return [run.windows, run.servers, run.worstShare, run.p50, run.p99, run.takeDots(), run.digest()]
  }))`

test('the bundled model runs where there is nothing of Node, and makes the picks that it makes here', async (t) => {
  const script = await bundled("export * from './run.js'; export * from './inputs.js'")
  // All browsers have the first two; where a page is not isolated there is no SharedArrayBuffer.
  const context = createContext({ TextEncoder, TextDecoder, SharedArrayBuffer: undefined })
  runInContext(script, context)
  const there = JSON.parse(runInContext(figures, context) as string)
  const here = (Object.keys(scenePolicies) as ScenePolicy[]).map((policy) => {
    const run = new SceneRun({ ...DEFAULTS, balancers: 3 }, policy)
    run.advanceTo(25_000)
    return [run.windows, run.servers, run.worstShare, run.p50, run.p99, run.takeDots(), run.digest()]
  })
  t.deepEqual(there, JSON.parse(JSON.stringify(here)))
})

test('a module of Node that has no stand-in is an error of the bundle', async (t) => {
  const error = await t.throwsAsync(bundled("import 'node:fs'"))
  t.regex(error.message, /node:fs has no stand-in/)
})
