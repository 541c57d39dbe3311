import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import { locked } from '../../.ci/lock.mjs'
import { temporaryFolder, write } from './folder.js'

test('a second task waits until the first has ended', async (t) => {
  const path = join(temporaryFolder(t), 'lock')
  const order: string[] = []
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const first = locked(path, async () => {
    order.push('first starts')
    await held
    order.push('first ends')
  })
  const second = locked(path, async () => order.push('second'), {
    every: 1,
    onWait() {
      order.push('second waits')
      release()
    },
  })
  await Promise.all([first, second])
  t.deepEqual(order, ['first starts', 'second waits', 'first ends', 'second'])
  t.false(existsSync(path))
})

test('a task that throws gives the lock back', async (t) => {
  const path = join(temporaryFolder(t), 'lock')
  await t.throwsAsync(
    locked(path, async () => {
      throw new Error('no space left')
    }),
    { message: 'no space left' },
  )
  t.is(await locked(path, async () => 'taken'), 'taken')
})

test('the lock of a process that has ended is taken over', async (t) => {
  const folder = temporaryFolder(t)
  const ended = spawnSync(process.execPath, ['--version'])
  write(folder, 'lock', String(ended.pid))
  let waited = false
  const task = locked(join(folder, 'lock'), async () => 'taken', {
    onWait() {
      waited = true
    },
  })
  t.is(await task, 'taken')
  t.false(waited)
})

test('the lock of a process that runs is left alone until it is gone', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'lock')
  write(folder, 'lock', String(process.pid))
  const looks: boolean[] = []
  await locked(path, async () => looks.push(existsSync(path)), {
    every: 1,
    async onWait() {
      await setTimeout(20)
      looks.push(existsSync(path))
      rmSync(path)
    },
  })
  t.deepEqual(looks, [true, true])
})
