import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stage } from './stage.mjs'

const root = join(fileURLToPath(import.meta.url), '../../..')
console.log(await stage(root))
