import { growthOf, MOST_GROWTH, soak } from './soak.js'

const kib = (bytes: number) => `${Math.round(bytes / 1024)} KiB`

/** Polls nodes with every fault there is, says what memory did, and whether it stayed flat. */
export async function soakPoller(cycles: number): Promise<boolean> {
  const result = await soak(cycles)
  console.table(
    Object.fromEntries(
      result.counters.map(({ name, cycles, asked, stored, heard, empty, exit, error, pushed }) => [
        name,
        { cycles, asked, stored, heard, empty, exit, error, 'wrong words': pushed.bad },
      ]),
    ),
  )
  const growth = growthOf(result)
  console.log(`in use after a collection, each tenth of the cycles: ${result.used.map(kib).join(', ')}`)
  console.log(`files and sockets open at these moments: ${result.open.join(', ')}`)
  console.log(`grown by ${kib(growth)}, of at most ${kib(MOST_GROWTH)}; process ${kib(result.rss)}`)
  return growth <= MOST_GROWTH
}
