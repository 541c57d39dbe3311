import { isMap, isScalar, parseDocument, visit } from 'yaml'

/**
 * @typedef {object} Facts what workflows are held against
 * @property {string[]} scripts the names of npm's scripts
 * @property {string[]} targets that addons are built for
 */

/** @typedef {Record<string, any>} Tree what YAML says, as plain objects */

/** The machines that there are, by the names that GitHub gave them: what else is asked for never starts. */
export const runners = [
  ...['ubuntu-24.04', 'ubuntu-24.04-arm', 'macos-15', 'macos-15-intel', 'windows-2025', 'windows-11-arm'],
]

/** The versions of Node that tests run on. */
export const nodes = ['20.19', '22', '24', '26']

/** What else than an npm script may be run: it brings what the machine lacks, or is of GitHub alone. */
const setUp = [
  /^rustup (toolchain install|default|self uninstall|target add) /,
  /^cargo install --locked [\w-]+@[\d.]+$/,
  /^go install \S+@v[\d.]+$/,
  /^npm ci$/,
  /^python3 -m venv "\$RUNNER_TEMP\/\w+"$/,
  /^"\$RUNNER_TEMP\/\w+\/bin\/pip" install --require-hashes -r \S+$/,
  /^echo "\$(RUNNER_TEMP|HOME)\/[\w/]+" >> "\$GITHUB_PATH"$/,
  /^gh release /,
]

/**
 * What in a workflow, or in an action of this repository, breaks its rules.
 * @param {string} text
 * @param {Facts} facts
 * @returns {string[]}
 */
export function complaints(text, facts) {
  const document = parseDocument(text)
  if (document.errors.length > 0) return document.errors.map(({ message }) => message)
  /** @type {Tree} */
  const file = document.toJS()
  const found = [...usesOf(document), ...secretsOf(text)]
  if (file.runs !== undefined) return [...found, ...stepsOf('runs', file.runs, facts)]
  for (const [name, job] of Object.entries(file.jobs ?? {}))
    found.push(...jobOf(name, job), ...stepsOf(name, job, facts))
  return [...found, ...permissionsOf(file)]
}

/** @param {Tree} file */
function permissionsOf({ permissions }) {
  if (permissions === undefined) return ['says nothing of permissions: every job has what GitHub gives']
  const more = Object.entries(permissions).filter(([, level]) => level !== 'read' && level !== 'none')
  return more.map(([scope]) => `permissions: ${scope} may be written by every job`)
}

/**
 * A name or a tag can be moved to other code; a hash can't. The version beside it is for people.
 * @param {import('yaml').Document.Parsed} document
 */
function usesOf(document) {
  /** @type {string[]} */
  const found = []
  visit(document, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || key.value !== 'uses' || !isScalar(value)) return
      const used = String(value.value)
      if (used.startsWith('./')) return
      if (!/^actions\/[\w-]+@[0-9a-f]{40}$/.test(used))
        found.push(`uses ${used}: not GitHub's own, by its hash`)
      else if (!/^ v\d+\.\d+\.\d+$/.test(value.comment ?? ''))
        found.push(`uses ${used}: no # v1.2.3 beside it`)
    },
    Map(_, map) {
      const uses = map.get('uses')
      if (typeof uses !== 'string' || !uses.startsWith('actions/checkout@')) return
      const options = map.get('with')
      if (!isMap(options) || options.get('persist-credentials') !== false)
        found.push('checks out without persist-credentials: false')
    },
  })
  return found
}

/** @param {string} text */
function secretsOf(text) {
  return /\$\{\{[^}]*\bsecrets\b/.test(text) ? ['uses a secret'] : []
}

/**
 * @param {string} name
 * @param {Tree} job
 */
function jobOf(name, job) {
  const found = []
  if (job['timeout-minutes'] === undefined) found.push(`${name}: has no timeout-minutes`)
  if (job.permissions === undefined) found.push(`${name}: does not say what it may do`)
  const matrix = job.strategy?.matrix
  const machines = String(job['runs-on']).startsWith('$') ? column(matrix, 'os') : [job['runs-on']]
  for (const machine of machines) {
    if (!runners.includes(machine)) found.push(`${name}: no machine is named ${machine}`)
  }
  for (const version of column(matrix, 'node')) {
    if (!nodes.includes(version)) found.push(`${name}: Node ${version} is none of ${nodes.join(', ')}`)
  }
  return found
}

/**
 * The values that a matrix has for one of its names.
 * @param {Tree | undefined} matrix
 * @param {string} name
 * @returns {string[]}
 */
export function column(matrix, name) {
  const included = (matrix?.include ?? []).map((/** @type {Tree} */ it) => it[name])
  const all = [...(matrix?.[name] ?? []), ...included].filter((value) => value !== undefined)
  return [...new Set(all)]
}

/**
 * @param {string} name
 * @param {Tree} job
 * @param {Facts} facts
 * @returns {string[]}
 */
function stepsOf(name, job, facts) {
  return (job.steps ?? [])
    .flatMap((/** @type {Tree} */ { run }) => (run === undefined ? [] : linesOf(run)))
    .flatMap((/** @type {string} */ line) => lineOf(line, facts))
    .map((/** @type {string} */ it) => `${name}: ${it}`)
}

/** @param {string} run */
function linesOf(run) {
  return run
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/**
 * @param {string} line
 * @param {Facts} facts
 * @returns {string[]}
 */
function lineOf(line, { scripts }) {
  // What stands there becomes part of the script, whatever it is: a branch's name can be a command.
  if (line.includes('${{')) return [`${line}: has an expression in a script: give it by env`]
  const script = /(?:^|^docker run --rm .* )npm (?:run ([\w:-]+)|(test)\b)/.exec(line)
  const called = script?.[1] ?? script?.[2]
  if (called !== undefined) return scripts.includes(called) ? [] : [`there is no npm script ${called}`]
  return setUp.some((known) => known.test(line)) ? [] : [`${line}: is no npm script`]
}

/**
 * Whether a release builds and tests all targets, and no other.
 * @param {string} text of the workflow
 * @param {Facts} facts
 * @returns {string[]}
 */
export function targetComplaints(text, { targets }) {
  const { jobs } = parseDocument(text).toJS()
  return ['build', 'test'].flatMap((name) => {
    const has = column(jobs[name]?.strategy?.matrix, 'target')
    return [
      ...targets.filter((target) => !has.includes(target)).map((target) => `${name}: leaves out ${target}`),
      ...has.filter((target) => !targets.includes(target)).map((target) => `${name}: ${target} is no target`),
    ]
  })
}
