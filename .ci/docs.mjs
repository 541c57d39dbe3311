// `npm run docs`: the API reference, to npm/docs/. It is made of the declarations, the README and the guides; a link that
// leads nowhere or a type that is not exported makes it fail.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { reference } from './api/reference.mjs'
import { argumentsOf } from './arguments.mjs'
import { install } from './install.mjs'

const root = join(fileURLToPath(import.meta.url), '../..')
argumentsOf('docs', {})
if ((await install(root)) === 'failed') process.exit(1)
const into = await reference(root)
if (into === undefined) process.exitCode = 1
else console.log(`the reference is at ${join(into, 'index.html')}`)
