import test from 'ava'
import { said } from './outcome.js'
import { Project } from './project.js'

test('worker threads pick, by themselves and by a balancer of the main thread, from an installed package', async (t) => {
  const project = await Project.make(t)
  await project.npm('install', 'idlest')
  await project.take('threads.mjs')
  const [attached, alone] = said<[{ engine: string; picked: string }, { picked: string }]>(
    await project.node('threads.mjs'),
  )
  t.is(attached.engine, 'native')
  t.true(['a', 'b'].includes(attached.picked))
  t.true(['a', 'b'].includes(alone.picked))
})

test('where there is no addon, a process with worker threads is warned once', async (t) => {
  const project = await Project.make(t)
  await project.npm('install', 'idlest', '--omit=optional')
  await project.take('threads.mjs')
  const { stdout, stderr } = await project.node('threads.mjs')
  t.is(said<[{ engine: string }]>({ code: 0, stdout, stderr })[0].engine, 'portable')
  t.is(stderr.split('IDLEST_PORTABLE').length - 1, 1, stderr)
})

test('a polling thread of an installed package hears an agent', async (t) => {
  const project = await Project.make(t)
  await project.npm('install', 'idlest')
  await project.take('polls.mjs')
  t.deepEqual(said(await project.node('polls.mjs')), { engine: 'native', cpu: 37.5, warnings: [] })
})
