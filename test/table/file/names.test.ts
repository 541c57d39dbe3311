import { createBalancer, createTable, powerOfTwo } from '../../../dist/index.js'
import { child } from '../../support/child.js'
import { filePath, test } from './processes.js'

const dist = new URL('../../../dist/index.js', import.meta.url)

/** What a process says that balances by a metric of this name, and ends. */
async function deploy(t: Parameters<typeof child>[0], file: string, name: string): Promise<string> {
  const { exit, said } = child(
    t,
    `import { createBalancer, createTable, powerOfTwo } from '${dist}'
    try {
      const table = createTable({ file: ${JSON.stringify(file)} })
      const balancer = createBalancer({ nodes: ['a', 'b'], table, poll: false, algorithm: powerOfTwo({ metric: '${name}' }) })
      console.log(balancer.select())
      balancer.report('a', { named: { '${name}': 7 } })
      process.exit()
    } catch (error) {
      console.log(error.code, error.message)
    }`,
  )
  await exit
  return said()
}

test('the named metrics of processes that ended make room for others, and those of living ones stay', async (t) => {
  const file = filePath()
  const table = createTable({ file })
  const balancer = createBalancer({
    nodes: ['a', 'b'],
    table,
    poll: false,
    algorithm: powerOfTwo({ metric: 'kept' }),
  })
  balancer.report('a', { named: { kept: 3 } })
  balancer.report('b', { named: { kept: 9 } })
  for (let i = 0; i < 6; i++) t.notRegex(await deploy(t, file, `deployment-${i}`), /IDLEST/)
  for (let i = 0; i < 5; i++) t.is(balancer.select(), 'a')
  await balancer.close()
})

test('where running processes use four named metrics, the error for a fifth names the file and the remedy', async (t) => {
  const file = filePath()
  const table = createTable({ file })
  const balancers = ['one', 'two', 'three', 'four'].map((metric) =>
    createBalancer({ nodes: ['a'], table, poll: false, algorithm: powerOfTwo({ metric }) }),
  )
  for (const balancer of balancers) balancer.select()
  const said = await deploy(t, file, 'five')
  t.regex(said, /^IDLEST_TABLE /)
  t.true(said.includes(JSON.stringify(file)))
  t.regex(said, /"five" is one more/)
  t.regex(said, /end those that use others, or give this one a file of its own/)
  for (const balancer of balancers) await balancer.close()
})
