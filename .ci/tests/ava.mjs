// ava, with the one thing patched that Bun and Deno lack of what it calls: its main process asks V8 for coverage as it
// ends. Everything that it starts for a test file runs in the same runtime.
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import v8 from 'node:v8'
import { bin } from '../process.mjs'

if (process.versions.bun !== undefined || 'Deno' in globalThis) v8.takeCoverage = () => {}
const root = join(fileURLToPath(import.meta.url), '../../..')
await import(pathToFileURL(bin(root, 'ava', 'ava')).href)
