// `npm run api`: whether .github/api/ tells of the API as it is. `--write`: writes it. `--against PLACE`: what has changed
// since other reports, a folder of them or one `.api.md`, and which part of the version has to step; the last line says
// `major`, `minor` or `patch`. `--version 1.2.3`: of which version those are; default the one of package.json.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { argumentsOf, stop } from '../arguments.mjs'
import { install } from '../install.mjs'
import { changes, described, due, step } from './changes.mjs'
import { reports } from './report.mjs'

const root = join(fileURLToPath(import.meta.url), '../../..')
const folder = join(root, '.github/api')

const { values } = argumentsOf('api', {
  options: {
    write: { type: 'boolean', default: false },
    against: { type: 'string' },
    version: { type: 'string' },
  },
})

/**
 * Reports that were written before.
 * @param {string} place
 * @returns {Map<string, string>} texts by file names
 */
function written(place) {
  if (!existsSync(place)) return new Map()
  const isFolder = statSync(place).isDirectory()
  const paths = isFolder ? readdirSync(place).map((name) => join(place, name)) : [place]
  return new Map(
    paths
      .filter((path) => path.endsWith('.api.md'))
      .map((path) => [basename(path), readFileSync(path, 'utf8')]),
  )
}

/** @param {ReadonlyMap<string, string>} now */
function write(now) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of now) writeFileSync(join(folder, name), text)
  console.log(`wrote ${now.size} reports to .github/api`)
}

/** @param {ReadonlyMap<string, string>} now */
function check(now) {
  const before = written(folder)
  const other = [...new Set([...before.keys(), ...now.keys()])].filter(
    (name) => before.get(name) !== now.get(name),
  )
  if (other.length === 0) return console.log('.github/api tells of the API as it is')
  for (const line of described(changes(before, now))) console.log(line)
  console.error(
    `.github/api is not of the API as it is (${other.join(', ')}): run \`npm run api -- --write\`, and look at the difference`,
  )
  process.exitCode = 1
}

/**
 * @param {ReadonlyMap<string, string>} now
 * @param {string} place
 */
function compare(now, place) {
  const before = written(place)
  if (before.size === 0) stop(`--against ${place}: there are no reports, nothing that ends in .api.md`)
  // One report alone is held against the one of its name.
  const others = statSync(place).isDirectory() ? now : new Map([...now].filter(([name]) => before.has(name)))
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const all = changes(before, others)
  for (const line of described(all)) console.log(line)
  console.log(step(due(all), values.version ?? version))
}

if ((await install(root)) === 'failed') process.exit(1)
const now = await reports(root)
if (values.against !== undefined) compare(now, values.against)
else if (values.write) write(now)
else check(now)
