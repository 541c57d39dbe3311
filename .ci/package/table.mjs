import Table from 'cli-table3'

/** @param {number} bytes */
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`

/**
 * What was packed, for a terminal.
 * @param {import('./guard.mjs').Checked[]} checked
 */
export function table(checked) {
  const made = new Table({
    head: ['package', 'files', 'unpacked', 'tarball', 'glibc'],
    colAligns: ['left', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [], compact: true },
  })
  for (const { name, files, unpacked, size, glibc } of checked) {
    made.push([name, files, kilobytes(unpacked), kilobytes(size), glibc ?? ''])
  }
  return made.toString()
}
