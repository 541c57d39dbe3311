// A registry on loopback, run by `startRegistry` as a process of its own: FOLDER VERDACCIO UPLINK. Its port is the first
// message to its parent, and it ends with it.
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [folder = '', verdaccio = '', uplink = ''] = process.argv.slice(2)
const { runServer } = createRequire(import.meta.url)(verdaccio)

const open = { access: '$all', publish: '$all' }
const server = await runServer({
  storage: join(folder, 'storage'),
  configPath: join(folder, 'config.yaml'),
  uplinks: { npm: { url: uplink, maxage: '1d' } },
  packages: { idlest: open, '@idlest/*': open, '**': { access: '$all', proxy: 'npm' } },
  log: { type: 'stdout', format: 'pretty', level: 'error' },
  web: { enable: false },
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port))
process.on('disconnect', () => process.exit())
