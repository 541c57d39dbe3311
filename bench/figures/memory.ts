import { createBalancer, createTable } from '../../dist/index.js'
import { nodeIds } from '../pool.js'

/** Bytes of a table that holds so many nodes. */
export async function tableBytes(nodes: number): Promise<number> {
  const table = createTable()
  const balancer = createBalancer({ nodes: nodeIds(nodes), table, poll: false })
  const { byteLength } = table.memory.buffer
  await balancer.close()
  return byteLength
}
