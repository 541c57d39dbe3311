import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { run } from '../../.ci/process.mjs'
import { publishAll } from '../../.ci/release/publication.mjs'
import { incomplete, type Tarball, tarballs } from '../../.ci/release/tarballs.mjs'
import { temporaryFolder, write } from './folder.js'

interface Packument {
  name: string
  'dist-tags': Record<string, string>
  versions: Record<string, { dist: Record<string, string> }>
}

/** As much of a registry as publishing needs. */
async function registry(t: ExecutionContext) {
  const packages = new Map<string, Packument>()
  const published: string[] = []
  const refused = new Set<string>()
  const server = createServer(async (request, response) => {
    const name = decodeURIComponent(request.url ?? '').replace(/^\/|\?.*$/g, '')
    const known = packages.get(name)
    response.setHeader('content-type', 'application/json')
    if (request.method !== 'PUT') {
      response.statusCode = known === undefined ? 404 : 200
      response.end(JSON.stringify(known ?? { error: 'not found' }))
      return
    }
    if (refused.has(name)) {
      response.writeHead(403).end('{}')
      return
    }
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const sent: Packument = JSON.parse(body)
    packages.set(name, {
      ...sent,
      'dist-tags': { ...known?.['dist-tags'], ...sent['dist-tags'] },
      versions: { ...known?.versions, ...sent.versions },
    })
    for (const version of Object.keys(sent.versions))
      published.push(`${name} ${version} as ${Object.keys(sent['dist-tags'])}`)
    response.statusCode = 201
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const hold = ({ name, version, integrity }: Tarball) =>
    packages.set(name, { name, 'dist-tags': {}, versions: { [version]: { dist: { integrity } } } })
  return { url, published, hold, refuse: (name: string) => refused.add(name) }
}

/** Packs packages of one file each. */
async function packed(
  t: ExecutionContext,
  version: string,
  optional = ['@idlest/pages', '@idlest/binding-a'],
) {
  const folder = temporaryFolder(t)
  const pack = async (name: string, dependencies: Record<string, string> | undefined) => {
    const file = name.replace(/^@|\//g, '-')
    const manifest = { name, version, optionalDependencies: dependencies }
    write(folder, `${file}/package/package.json`, JSON.stringify(manifest))
    const { code } = await run('tar', ['-czf', `${file}.tgz`, '-C', file, 'package'], { cwd: folder })
    t.is(code, 0)
  }
  await pack('idlest', Object.fromEntries(optional.map((name) => [name, version])))
  await pack('@idlest/pages', undefined)
  await pack('@idlest/binding-a', undefined)
  return tarballs(folder)
}

async function publish(t: ExecutionContext, url: string, all: Tarball[], dryRun = false) {
  const settings = temporaryFolder(t, { npmrc: `//${new URL(url).host}/:_authToken=token\nfund=false\n` })
  process.env.npm_config_userconfig = join(settings, 'npmrc')
  process.env.npm_config_cache = join(settings, 'cache')
  const said: string[] = []
  await publishAll(all, { registry: url, dryRun, say: (text) => said.push(text) })
  return said
}

test.serial('the main package goes last, after all that it names', async (t) => {
  const { url, published } = await registry(t)
  const all = await packed(t, '1.2.0')
  t.deepEqual(incomplete(all), [])
  await publish(t, url, all)
  t.deepEqual([...published].sort(), [
    '@idlest/binding-a 1.2.0 as latest',
    '@idlest/pages 1.2.0 as latest',
    'idlest 1.2.0 as latest',
  ])
  t.is(published.at(-1), 'idlest 1.2.0 as latest')
})

test.serial('a release that broke off is gone on with: what is there is left as it is', async (t) => {
  const { url, published, hold } = await registry(t)
  const all = await packed(t, '1.2.0')
  for (const part of all.slice(0, -1)) hold(part)
  const said = await publish(t, url, all)
  t.deepEqual(published, ['idlest 1.2.0 as latest'])
  t.is(said.filter((line) => line.endsWith('1.2.0: is there already')).length, 2)
})

test.serial('a version that is there from another build is told', async (t) => {
  const { url, published, hold } = await registry(t)
  const all = await packed(t, '1.2.0')
  for (const part of all) hold({ ...part, integrity: 'sha512-AAAA' })
  const said = await publish(t, url, all)
  t.is(said.filter((line) => line.endsWith('is there already, from another build than this')).length, 3)
  t.deepEqual(published, [])
})

test.serial('prereleases are next, and nothing is published by a dry run', async (t) => {
  const { url, published, hold } = await registry(t)
  const all = await packed(t, '2.0.0-rc.1')
  const said = await publish(t, url, all, true)
  t.deepEqual(published, [])
  t.is(said.at(-1), 'idlest 2.0.0-rc.1: would be published as next')
  for (const part of all.slice(0, -1)) hold(part)
  await publish(t, url, all)
  t.deepEqual(published, ['idlest 2.0.0-rc.1 as next'])
})

test.serial('a registry that fails is no registry that lacks the package', async (t) => {
  const server = createServer((_, response) => response.writeHead(503).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const all = await packed(t, '1.2.0')
  await t.throwsAsync(publish(t, url, all), { message: /answers with 503$/ })
})

test.serial('a package that npm does not publish ends it', async (t) => {
  const { url, published, refuse } = await registry(t)
  const all = await packed(t, '1.2.0')
  refuse('@idlest/pages')
  await t.throwsAsync(publish(t, url, all), { message: /npm publish of @idlest\/pages failed$/ })
  t.false(published.includes('idlest 1.2.0 as latest'))
})

test.serial('a package that names what is not among the tarballs is not published', async (t) => {
  t.deepEqual(incomplete([]), ['there are no tarballs: npm run package'])
  const all = await packed(t, '1.2.0', ['@idlest/binding-b'])
  t.deepEqual(incomplete(all), ['idlest names @idlest/binding-b 1.2.0, which is not among the tarballs'])
  const other = await packed(t, '1.3.0')
  t.true(incomplete([...all.slice(0, 1), ...other.slice(1)]).length > 0)
})
