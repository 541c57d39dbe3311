/**
 * Fills the empty places of a list: with those who join, in their order, as far as there are any; then with the last of the
 * list. Who joins and finds no empty place comes to the end. All others stay where they are.
 * @param list undefined for an empty place
 */
export function taken<T>(list: readonly (T | undefined)[], joined: readonly T[]): T[] {
  const filled: (T | undefined)[] = [...list]
  let next = 0
  for (let i = 0; i < filled.length; i++) {
    if (filled[i] !== undefined) continue
    if (next < joined.length) filled[i] = joined[next++]
    else filled[i] = lastBehind(filled, i)
  }
  return [...filled.filter((one) => one !== undefined), ...joined.slice(next)]
}

// Takes away the last one behind a place, and the empty places behind it.
function lastBehind<T>(list: (T | undefined)[], place: number): T | undefined {
  while (list.length > place + 1) {
    const last = list.pop()
    if (last !== undefined) return last
  }
  return undefined
}
