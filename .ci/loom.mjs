// `npm run loom`: the models of the table's protocol under loom, with a thread more of each kind than `npm test` has.
// There they run without a bound on preemptions; here that would take days.
//   --depth N        threads of a kind, 1 to 3 (default: 2)
//   --preemptions N  how often a thread may be stopped in the middle of its steps, in one interleaving (default: 4); 0 for
//                    no bound
//   other arguments choose models by parts of their names
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { argumentsOf, stop } from './arguments.mjs'
import { loom, noRust } from './native.mjs'
import { run } from './process.mjs'

const root = join(fileURLToPath(import.meta.url), '../..')
const { values, positionals } = argumentsOf('loom', {
  allowPositionals: true,
  options: {
    depth: { type: 'string', default: '2' },
    preemptions: { type: 'string', default: '4' },
  },
})

if (!/^[123]$/.test(values.depth)) stop(`--depth ${values.depth}: expected 1, 2 or 3`)
if (!/^\d+$/.test(values.preemptions)) stop(`--preemptions ${values.preemptions}: expected a whole number`)

const reason = await noRust(root)
if (reason !== undefined) {
  console.error(reason)
  process.exitCode = 1
} else {
  const { args, env } = loom(root)
  // Shown: how many interleavings each model had.
  const { code } = await run('cargo', ['test', '--locked', ...args, '--', '--nocapture', ...positionals], {
    cwd: root,
    env: {
      ...env,
      IDLEST_LOOM_DEPTH: values.depth,
      ...(values.preemptions === '0' ? {} : { LOOM_MAX_PREEMPTIONS: values.preemptions }),
    },
  })
  if (code !== 0) process.exitCode = 1
}
