import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { npm } from '../../.ci/process.mjs'
import { toolFile } from './tools.js'

/** A registry of npm packages on loopback. */
export interface Registry {
  /** With a slash at the end. */
  readonly url: string
  close(): Promise<void>
}

/**
 * Starts a registry that has nothing: what is published goes into `folder`, and what it is asked for beside `idlest` and
 * `@idlest/*` it has from the registry that npm uses.
 */
export async function startRegistry(folder: string): Promise<Registry> {
  const { output: uplink } = await npm(['config', 'get', 'registry'], { quiet: true })
  const { output: cafile } = await npm(['config', 'get', 'cafile'], { quiet: true })
  const server = fork(
    fileURLToPath(new URL('registry-server.mjs', import.meta.url)),
    [folder, toolFile('verdaccio'), uplink.trim()],
    {
      execArgv: [],
      // npm's own authorities count for the registry behind this one too.
      env: { NODE_EXTRA_CA_CERTS: /^(null|)$/.test(cafile.trim()) ? '' : cafile.trim(), ...process.env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    },
  )
  const exit = once(server, 'exit')
  const [port] = await Promise.race([
    once(server, 'message') as Promise<[number]>,
    exit.then(([code]): never => {
      throw new Error(`the registry ended with code ${code}`)
    }),
  ])
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      server.disconnect()
      await exit
    },
  }
}
