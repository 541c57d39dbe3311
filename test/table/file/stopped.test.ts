// Another process holds the file's lock, since it was stopped in the middle of a change.
import { createBalancer, createTable, leastCpu } from '../../../dist/index.js'
import { WHOLE_LOCK } from '../../../dist/table/file/layout.js'
import { TableFile } from '../../../dist/table/file/table-file.js'
import { filePath, test, until } from './processes.js'

/** Holds the lock as another process would: by another opening of the file. */
function stopped(file: string): { goOn(): void } {
  const holder = new TableFile(file, undefined, 16)
  if (!holder.take(WHOLE_LOCK, true)) throw new Error('the lock is taken')
  return { goOn: () => holder.release(WHOLE_LOCK) }
}

/** Records how long each change is ready to wait for the lock. */
function waits(run: () => void): number[] {
  const { alone } = TableFile.prototype
  const longest: number[] = []
  TableFile.prototype.alone = function <R>(this: TableFile, most: number, work: () => R): R | undefined {
    if (most > 0) longest.push(most)
    return alone.call(this, most, work) as R | undefined
  }
  try {
    run()
  } finally {
    TableFile.prototype.alone = alone
  }
  return longest
}

const nodes = Array.from({ length: 100 }, (_, i) => `n${i}`)

test('where a process that was stopped holds the lock, a change of many members waits at most once, and not for long', async (t) => {
  const file = filePath()
  const table = createTable({ file, maxNodes: 256 })
  const balancer = createBalancer({ nodes: ['first'], table, poll: false })
  const { goOn } = stopped(file)
  const joining = waits(() => balancer.setNodes(['first', ...nodes]))
  t.true(joining.length <= 1 && joining.every((longest) => longest <= 5), String(joining))
  t.deepEqual(
    waits(() => balancer.setNodes(['first'])),
    [],
  )
  // In the turns after that, too.
  await new Promise((resolve) => setImmediate(resolve))
  goOn()
  await balancer.close()
})

test('nodes that came while the lock was held are picked at once, and have reports and counts when it is free', async (t) => {
  const file = filePath()
  createTable({ file, maxNodes: 256 })
  const { goOn } = stopped(file)
  const table = createTable({ file })
  const balancer = createBalancer({ nodes: ['a', 'b'], table, poll: false, algorithm: leastCpu() })
  t.true(['a', 'b'].includes(balancer.select()))
  const lease = balancer.acquire()
  t.deepEqual(
    balancer.snapshot().map(({ inFlight }) => inFlight),
    [0, 0],
  )
  balancer.report('a', { cpu: 1 })
  t.is(balancer.snapshot()[0]?.report.cpu, undefined)
  goOn()
  await until(
    () => [...table.places()].map(({ id }) => id),
    (ids) => ids.length === 2,
  )
  lease.release()
  t.deepEqual(
    balancer.snapshot().map(({ inFlight }) => inFlight),
    [0, 0],
  )
  t.true(balancer.report('a', { cpu: 90 }))
  t.true(balancer.report('b', { cpu: 10 }))
  t.is(balancer.select(), 'b')
  const counted = balancer.acquire()
  t.is(balancer.snapshot()[1]?.inFlight, 1)
  counted.release()
  await balancer.close()
})

test('nodes that left while the lock was held give their slots back when it is free', async (t) => {
  const file = filePath()
  const table = createTable({ file, maxNodes: 256 })
  const balancer = createBalancer({ nodes, table, poll: false })
  const { goOn } = stopped(file)
  balancer.setNodes([])
  await new Promise((resolve) => setImmediate(resolve))
  t.is(table.size, 100)
  goOn()
  await until(
    () => table.size,
    (size) => size === 0,
  )
  t.is(table.size, 0)
  await balancer.close()
})
