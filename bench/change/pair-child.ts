// Runs rounds of this checkout's cases when it is told to: `pair-child.ts EFFORT TOPIC...`. Each message is a round; the answer is what
// it came to.
import { TOPICS } from '../case.js'
import { sampleFloor } from '../cases/floor.js'
import { listed, ownFamilies } from '../families.js'
import { Rounds } from '../run.js'
import type { RoundMessage } from './pair-protocol.js'

const [effort, ...topics] = process.argv.slice(2)
const families = await ownFamilies(
  () => {},
  TOPICS.filter((topic) => topics.includes(topic)),
)
const run = new Rounds(listed(families), Number(effort), sampleFloor)
process.on('message', () => {
  process.send?.({ round: run.run() } satisfies RoundMessage)
})
process.on('disconnect', () => process.exit())
// It compiles and warms up.
run.run(false)
process.send?.('ready')
