import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Runs a module in the package's folder, where `idlest` is its own name. */
async function said(source: string): Promise<string> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', source], { cwd: root })
  return stdout
}

test('idlest/undici is a subpath of the package, which idlest itself does not load', async (t) => {
  t.is(await said(`console.log(typeof (await import('idlest/undici')).BalancedDispatcher)`), 'function\n')
  const loaded = await said(`
    import { createRequire } from 'node:module'
    await import('idlest')
    const paths = Object.keys(createRequire(import.meta.url).cache ?? {})
    console.log(paths.some((path) => path.includes('balanced-pool')))`)
  t.is(loaded, 'false\n')
})

test('a process ends by itself when its requests have, though neither was closed', async (t) => {
  const stdout = await said(`
    import { createServer } from 'node:http'
    import { once } from 'node:events'
    import { createBalancer } from 'idlest'
    import { BalancedDispatcher } from 'idlest/undici'
    const server = createServer((request, response) => response.end('a')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const balancer = createBalancer({ nodes: ['127.0.0.1:' + server.address().port], poll: false })
    const dispatcher = new BalancedDispatcher(balancer)
    console.log(await (await fetch('http://service.local/', { dispatcher })).text())
    server.close()
    server.closeAllConnections()`)
  t.is(stdout, 'a\n')
})
