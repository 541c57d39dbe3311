import { readFile } from 'node:fs/promises'
import { stripVTControlCharacters } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/**
 * What publint says of a tarball, and of its types arethetypeswrong. The way that TypeScript resolved modules before
 * `exports` (node10) does not count: it knows no paths of a package but files. Nor do entries that are programs, which
 * have no types: they are started or bundled by name, not imported.
 * @param {string} file the tarball
 * @param {string[]} files
 * @returns {Promise<string[]>}
 */
export async function typeProblems(file, files) {
  const bytes = await readFile(file)
  const tarball = new Uint8Array(bytes).buffer
  const { messages, pkg } = await publint({ pack: { tarball }, strict: true })
  const told = messages.map(
    (message) => `publint: ${stripVTControlCharacters(formatMessage(message, pkg) ?? message.code)}`,
  )
  if (!files.some((path) => path.endsWith('.d.ts'))) return told
  const result = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)), {
    excludeEntrypoints: programsOf(pkg.exports),
  })
  if (result.types === false) return [...told, 'attw: has no types']
  const problems = result.problems.filter(
    (problem) => !('resolutionKind' in problem && problem.resolutionKind === 'node10'),
  )
  return [...told, ...problems.map((problem) => `attw: ${JSON.stringify(problem)}`)]
}

/** @param {Record<string, unknown>} exports */
function programsOf(exports) {
  return Object.entries(exports).flatMap(([path, entry]) =>
    typeof entry === 'string' && entry.endsWith('.js') ? [path] : [],
  )
}
