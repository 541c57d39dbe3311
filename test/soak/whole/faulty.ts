// Nodes that do something wrong most of the time, each time another thing. Tells their addresses, by transport.
import { setTimeout as delay } from 'node:timers/promises'
import { EXPIRED, type FaultyNode } from '../../poller/faults/faults.js'
import { allFaulted } from '../../poller/faults/transports.js'

/** Nodes of each transport. */
const COUNT = 8
/** How long a node does the same thing, ms: from this to twice this. */
const TURN = 2_000

const owner = { teardown: () => {} }
const addresses: Record<string, string[]> = {}

async function goWrong(
  node: FaultyNode,
  faults: readonly Parameters<FaultyNode['break']>[0][],
): Promise<void> {
  for (;;) {
    await delay(TURN * (1 + Math.random()))
    const fault = faults[Math.floor(Math.random() * faults.length)]
    try {
      await node.mend()
      if (fault !== undefined && Math.random() < 0.8) await node.break(fault)
    } catch {
      // Its port is somebody else's for now: it is mended another time.
    }
  }
}

for (const { name, unasked, faults, start } of allFaulted) {
  const nodes = await Promise.all(Array.from({ length: COUNT }, (_, i) => start(owner, i * 10, false)))
  addresses[name] = nodes.map(({ id }) => id)
  // The nodes that tell unasked listen no more once they have refused.
  const met = faults.filter((fault) => fault !== EXPIRED && !(unasked && fault === 'refuses'))
  for (const node of nodes.slice(1)) void goWrong(node, met)
}
process.send?.(addresses)
process.on('disconnect', () => process.exit())
