// `npm run release:publish -- --dry-run`: publishes the tarballs that `npm run package` left in npm/, the main package
// last. What is there already is left as it is, so a release that broke off is published by running this again.
//   --from DIR      where the tarballs are (default: npm)
//   --registry URL  another registry than npm's own settings have
//   --dry-run       says what it would do
//   --partial       also where a package that the main one names is not among the tarballs
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { argumentsOf } from '../arguments.mjs'
import { publishAll } from './publication.mjs'
import { incomplete, tarballs } from './tarballs.mjs'

const root = join(fileURLToPath(import.meta.url), '../../..')
const { values } = argumentsOf('release:publish', {
  options: {
    from: { type: 'string', default: join(root, 'npm') },
    registry: { type: 'string' },
    'dry-run': { type: 'boolean', default: false },
    partial: { type: 'boolean', default: false },
  },
})

const all = await tarballs(values.from)
const problems = values.partial && all.length > 0 ? [] : incomplete(all)
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else await publishAll(all, { registry: values.registry, dryRun: values['dry-run'] })
