// The nodes of the soak, of which nearly all do something wrong all the time. Tells their addresses, by transport.
import { EXPIRED } from '../../poller/faults/faults.js'
import { allFaulted } from '../../poller/faults/transports.js'
import type { SoakNodes } from './soak.js'

const RIGHT = [10, 40, 90]
const owner = { teardown: () => {} }
const nodes: SoakNodes[] = []
for (const { name, faults, start } of allFaulted) {
  for (const tls of [false, true]) {
    const right = await Promise.all(RIGHT.map((cpu) => start(owner, cpu, tls)))
    const met = faults.filter((fault) => (fault === EXPIRED) === tls)
    const wrong = await Promise.all(met.map(() => start(owner, 50, tls)))
    await Promise.all(wrong.map((node, index) => node.break(met[index] ?? EXPIRED)))
    nodes.push({ transport: name, tls, right: right.map(({ id }) => id), wrong: wrong.map(({ id }) => id) })
  }
}
process.send?.(nodes)
process.on('disconnect', () => process.exit())
