// `npm run soak`: polls nodes with every fault there is for 10,000 cycles of each transport, and says what memory did.
// An argument is another number of cycles. Exits with 1 where memory grew.
import { growthOf, MOST_GROWTH, soak } from './soak.js'

const cycles = Number(process.argv[2] ?? 10_000)
const kib = (bytes: number) => `${Math.round(bytes / 1024)} KiB`
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
if (growth > MOST_GROWTH) process.exitCode = 1
