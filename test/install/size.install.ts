import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { Project } from './project.js'
import { BINDING } from './world.js'

const MEBIBYTE = 2 ** 20

/** Bytes of all files below a folder. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

test('what is installed is small: all of it is less than 16 MiB, and the time that npm takes from its cache is told', async (t) => {
  const project = await Project.make(t)
  const start = performance.now()
  const { stdout } = await project.npm('install', 'idlest', '--prefer-offline')
  t.log(
    `npm install idlest, all of it in npm's cache: ${Math.round(performance.now() - start)} ms; ${stdout.trim()}`,
  )
  for (const name of ['idlest', BINDING, '@idlest/pages', '']) {
    const size = sizeOf(join(project.folder, 'node_modules', name))
    t.log(`${name || 'with all dependencies'}: ${(size / MEBIBYTE).toFixed(2)} MiB`)
  }
  t.true(sizeOf(join(project.folder, 'node_modules')) < 16 * MEBIBYTE)
})
