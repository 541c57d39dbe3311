import { once } from 'node:events'
import test, { type ExecutionContext } from 'ava'
import { Project } from './project.js'
import { world } from './world.js'

const PAGES = '@idlest/pages'

async function installed(t: ExecutionContext, ...flags: string[]): Promise<Project> {
  const project = await Project.make(t)
  await project.npm('install', 'idlest', ...flags)
  return project
}

/** Starts the command, and gives the first address that it says. */
async function started(t: ExecutionContext, project: Project, ...args: string[]): Promise<string> {
  const child = project.start('node_modules/idlest/dist/cli/main.js', ...args)
  const exit = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exit
  })
  let text = ''
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const [url] = /http:\/\/127\.0\.0\.1:\d+[\w/]*/.exec(text) ?? []
      if (url !== undefined) resolve(url)
    })
    void exit.then(() => reject(new Error(`it said no address: ${text}`)))
  })
}

test('npx idlest is the command, of the version that is installed', async (t) => {
  const project = await installed(t)
  t.is((await project.npx('idlest', '--version')).stdout, `${world.version}\n`)
})

test('npx idlest agent tells the load of the machine', async (t) => {
  const project = await installed(t)
  const url = await started(t, project, 'agent', '--sample-interval', '100')
  // 503 until it has its first sample.
  let response = await fetch(url)
  while (response.status === 503) {
    await response.arrayBuffer()
    response = await fetch(url)
  }
  t.is(response.status, 200)
  t.is(typeof ((await response.json()) as { cpu_utilization?: unknown }).cpu_utilization, 'number')
})

test('npx idlest demo balances four real servers, natively', async (t) => {
  const project = await installed(t)
  const { stdout } = await project.npx('idlest', 'demo', '--duration', '2', '--json', '--engine', 'native')
  t.is(JSON.parse(stdout).engine, 'native')
})

test('npx idlest scene serves its page out of the package of the pages', async (t) => {
  const project = await installed(t)
  const url = await started(t, project, 'scene', '--port', '0')
  const response = await fetch(url)
  t.is(response.status, 200)
  t.regex(await response.text(), /<script[^>]* src="[^"]*scene[^"]*\.js"/)
})

test('npx idlest simulate writes its report by the package of the pages', async (t) => {
  const project = await installed(t)
  await project.npx('idlest', 'simulate', '--requests', '2000', '--policy', 'random', '--html', 'report.html')
  t.regex(project.read('report.html'), /<script id="data"/)
})

for (const [title, args] of [
  ['scene', ['scene', '--port', '0']],
  ['simulate --html', ['simulate', '--requests', '2000', '--policy', 'random', '--html', 'report.html']],
] as const) {
  test(`without the package of the pages, idlest ${title} says what brings it; the rest works`, async (t) => {
    const project = await installed(t, '--omit=optional')
    const { code, stderr } = await project.run(project.npxCommand('idlest', ...args))
    t.is(code, 1)
    t.true(stderr.includes(`npm install ${PAGES}@${world.version}`), stderr)
    t.false(project.has('report.html'))
    await project.npx('idlest', 'simulate', '--requests', '2000', '--policy', 'random', '--json')
    await project.npm('install', `${PAGES}@${world.version}`)
    await project.npx(
      'idlest',
      'simulate',
      '--requests',
      '2000',
      '--policy',
      'random',
      '--html',
      'report.html',
    )
    t.true(project.has('report.html'))
  })
}
