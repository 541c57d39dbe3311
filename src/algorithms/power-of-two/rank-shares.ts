/**
 * The probability that each of some is the least of `choices` distinct ones drawn at random, ties by chance.
 *
 * Where m of n are no better than x, all that are drawn are among them with the probability
 * r(m) = m (m - 1) ... / (n (n - 1) ...), d factors each. So k that are equal, with m no better, share
 * r(m) - r(m - k) evenly.
 * @param loads `Infinity` where unknown
 * @param choices d; all where there are no more
 * @param unknownFails whether nobody is picked where all that are drawn are unknown
 */
export function sharesByRank(loads: Float64Array, choices: number, unknownFails: boolean): Float64Array {
  const n = loads.length
  const d = Math.min(choices, n)
  const order = Uint32Array.from(loads.keys()).sort((a, b) => compare(loads[a] as number, loads[b] as number))
  const shares = new Float64Array(n)
  for (let start = 0; start < n; ) {
    const load = loads[order[start] as number] as number
    let end = start + 1
    while (end < n && loads[order[end] as number] === load) end++
    const all = allAmong(n - start, n, d) - allAmong(n - end, n, d)
    const share = unknownFails && load === Number.POSITIVE_INFINITY ? 0 : all / (end - start)
    for (let i = start; i < end; i++) shares[order[i] as number] = share
    start = end
  }
  return shares
}

// Not by subtraction: two that are unknown are equal.
function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

// r(m).
function allAmong(m: number, n: number, d: number): number {
  if (m < d) return 0
  let probability = 1
  for (let i = 0; i < d; i++) probability *= (m - i) / (n - i)
  return probability
}
