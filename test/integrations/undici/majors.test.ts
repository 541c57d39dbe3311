import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import * as undici7 from 'undici/index.js'
import { named, nobody, over } from './servers.js'
import { testWithUndici8 } from './undici8.js'
import { usesOf7, usesOf8 } from './uses.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

test('the documented uses compile with the types of undici 7 and 8', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'idlest-majors-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const project = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { typeRoots: [join(root, 'node_modules/@types')], skipLibCheck: false },
    include: [],
    files: [join(root, 'test/integrations/undici/uses.ts')],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch((error) => error)
  t.is(stdout, '')
})

test('fetch, request, stream, interceptors and the global dispatcher of undici 7 go to the nodes', async (t) => {
  const { dispatcher, outcomes } = over(t, [{ id: await nobody(t) }, await named(t, 'a')])
  t.deepEqual(await usesOf7(undici7, dispatcher), ['a', 'a', 'a', 'a', 'a'])
  t.is(outcomes()[1]?.[0], 5)
})

testWithUndici8('those of undici 8 do too', async (t) => {
  const { dispatcher, outcomes } = over(t, [{ id: await nobody(t) }, await named(t, 'a')])
  t.deepEqual(await usesOf8(await import('undici8'), dispatcher), ['a', 'a', 'a', 'a', 'a'])
  t.is(outcomes()[1]?.[0], 5)
})

testWithUndici8("a pool of undici 8 sends a node's requests", async (t) => {
  const { fetch, Pool } = await import('undici8')
  const a = await named(t, 'a')
  const { dispatcher, outcomes } = over(t, [a], { factory: (origin) => new Pool(origin) })
  t.is(await (await fetch('http://service.local/', { dispatcher })).text(), 'a')
  t.deepEqual(outcomes(), [[1, 0]])
})
