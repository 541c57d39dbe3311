import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { moduleFile } from '../../support/module-file.js'

const run = promisify(execFile)

/** Runs a module in the package's folder, where `idlest` is its own name. */
async function said(t: ExecutionContext, source: string): Promise<string> {
  const { stdout } = await run(process.execPath, [moduleFile(t, source)])
  return stdout
}

test('idlest/undici is a subpath of the package, which idlest itself does not load', async (t) => {
  t.is(await said(t, `console.log(typeof (await import('idlest/undici')).BalancedDispatcher)`), 'function\n')
  const loaded = await said(
    t,
    `
    import { createRequire } from 'node:module'
    await import('idlest')
    const paths = Object.keys(createRequire(import.meta.url).cache ?? {})
    console.log(paths.some((path) => path.includes('balanced-pool')))`,
  )
  t.is(loaded, 'false\n')
})

test('a process ends by itself when its requests have, though neither was closed', async (t) => {
  const stdout = await said(
    t,
    `
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
    server.closeAllConnections()`,
  )
  t.is(stdout, 'a\n')
})
