import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { filesUnder, fingerprint, once } from '../../.ci/stamp.mjs'
import { temporaryFolder, write } from './folder.js'

function project(t: ExecutionContext) {
  const root = temporaryFolder(t, { 'in/a.txt': 'a', 'in/deep/b.txt': 'b' })
  const work = {
    root,
    made: 0,
    fails: false,
    run: (version = '1') =>
      once({
        root,
        stamp: 'out/.built.json',
        inputs: fingerprint(root, filesUnder(root, ['in']), version),
        async make() {
          if (work.fails) return undefined
          work.made++
          write(root, 'out/result.txt', String(work.made))
          return ['out/result.txt']
        },
      }),
  }
  return work
}

test('work is done once and not again while nothing changes', async (t) => {
  const work = project(t)
  t.is(await work.run(), 'made')
  t.is(await work.run(), 'fresh')
  t.is(work.made, 1)
})

test('a changed, added, renamed or deleted input does the work again', async (t) => {
  const work = project(t)
  await work.run()
  write(work.root, 'in/deep/b.txt', 'B')
  t.is(await work.run(), 'made', 'changed')
  write(work.root, 'in/c.txt', 'c')
  t.is(await work.run(), 'made', 'added')
  rmSync(join(work.root, 'in/c.txt'))
  write(work.root, 'in/d.txt', 'c')
  t.is(await work.run(), 'made', 'renamed')
  rmSync(join(work.root, 'in/d.txt'))
  t.is(await work.run(), 'made', 'deleted')
  t.is(await work.run(), 'fresh')
})

test('another version of the tool does the work again', async (t) => {
  const work = project(t)
  await work.run('1')
  t.is(await work.run('2'), 'made')
})

test('a missing output does the work again', async (t) => {
  const work = project(t)
  await work.run()
  rmSync(join(work.root, 'out/result.txt'))
  t.is(await work.run(), 'made')
})

test('work that failed is tried again, also when it was fresh before', async (t) => {
  const work = project(t)
  await work.run()
  write(work.root, 'in/a.txt', 'broken')
  work.fails = true
  t.is(await work.run(), 'failed')
  write(work.root, 'in/a.txt', 'a')
  t.is(await work.run(), 'failed')
  work.fails = false
  t.is(await work.run(), 'made')
})

test('a damaged stamp counts as none', async (t) => {
  const work = project(t)
  await work.run()
  write(work.root, 'out/.built.json', '{"inputs":')
  t.is(await work.run(), 'made')
  t.true(existsSync(join(work.root, 'out/.built.json')))
})

test('files are listed sorted, without skipped folders and paths that are not there', (t) => {
  const root = temporaryFolder(t, {
    'lib.rs': '',
    'crates/b/src/lib.rs': '',
    'crates/a/src/lib.rs': '',
    'crates/a/tests/loom.rs': '',
  })
  t.deepEqual(filesUnder(root, ['lib.rs', 'crates', 'missing'], ['tests']), [
    'crates/a/src/lib.rs',
    'crates/b/src/lib.rs',
    'lib.rs',
  ])
})
