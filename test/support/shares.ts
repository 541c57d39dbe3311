// Critical values of chi-square at p = 0.001, by the Wilson-Hilferty approximation (good to 1 % from 1 degree on).
function critical(degrees: number): number {
  const z = 3.0902
  const a = 2 / (9 * degrees)
  return degrees * (1 - a + z * Math.sqrt(a)) ** 3
}

/** Whether counts are what equal chances would give, p > 0.001. */
export function areUniform(counts: readonly number[]): boolean {
  const total = counts.reduce((sum, count) => sum + count, 0)
  const expected = total / counts.length
  const statistic = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
  return counts.length === 1 || statistic < critical(counts.length - 1)
}

/** Whether counts are what these shares would give, p > 0.001; a share of 0 allows no count. */
export function follow(counts: readonly number[], shares: readonly number[]): boolean {
  const total = counts.reduce((sum, count) => sum + count, 0)
  let statistic = 0
  let degrees = -1
  for (const [i, share] of shares.entries()) {
    const count = counts[i] ?? 0
    if (share === 0 && count > 0) return false
    if (share === 0) continue
    degrees++
    statistic += (count - total * share) ** 2 / (total * share)
  }
  return degrees === 0 || statistic < critical(degrees)
}

/** How often each key came, over so many calls. */
export function countPicks<K>(times: number, pick: () => K): Map<K, number> {
  const counts = new Map<K, number>()
  for (let i = 0; i < times; i++) {
    const key = pick()
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
