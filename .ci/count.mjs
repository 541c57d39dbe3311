import { stripVTControlCharacters } from 'node:util'

/** @typedef {{ passed: number, failed: number, skipped: number }} Count */

/** @param {Count[]} counts */
export function sum(counts) {
  const total = { passed: 0, failed: 0, skipped: 0 }
  for (const { passed, failed, skipped } of counts) {
    total.passed += passed
    total.failed += failed
    total.skipped += skipped
  }
  return total
}

/** @param {Count} count */
export function closingLine({ passed, failed }) {
  return `${passed} passed, ${failed} failed`
}

/**
 * A runner that failed without naming a failed test (it did not compile, it crashed) counts as one failure.
 * @param {Count} count
 * @param {number} exitCode
 * @returns {Count}
 */
export function withExit(count, exitCode) {
  return exitCode !== 0 && count.failed === 0 ? { ...count, failed: 1 } : count
}

/** Counts what `cargo test` prints: one `test result:` line for each binary and for the doc tests. */
export class CargoCount {
  /** @type {Count} */
  count = { passed: 0, failed: 0, skipped: 0 }

  /** @param {string} line */
  read(line) {
    const plain = stripVTControlCharacters(line)
    const result = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;/.exec(plain)
    if (!result) return
    const [passed, failed, skipped] = result.slice(1).map(Number)
    this.count = sum([this.count, { passed: passed ?? 0, failed: failed ?? 0, skipped: skipped ?? 0 }])
  }
}
