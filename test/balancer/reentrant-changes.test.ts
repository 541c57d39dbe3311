import test, { type ExecutionContext } from 'ava'
import { ClosedError } from '../../dist/errors.js'
import { type Balancer, createBalancer, createTable, custom } from '../../dist/index.js'

type Node = { readonly id: string }

/** A node whose id does something when it is read. */
function nodeThat(id: string, act: () => void): Node {
  return {
    get id() {
      act()
      return id
    },
  }
}

function scene() {
  const table = createTable()
  const balancer: Balancer<Node> = createBalancer<Node>({ nodes: [{ id: 'a' }], table, poll: false })
  return { table, balancer }
}

function isEmpty(t: ExecutionContext, { table, balancer }: ReturnType<typeof scene>): void {
  t.true(balancer.closed)
  t.is(balancer.nodes.length, 0)
  t.is(table.size, 0)
}

for (const [what, change] of [
  ['setNodes', (balancer: Balancer<Node>, node: Node) => balancer.setNodes([{ id: 'b' }, node, { id: 'c' }])],
  ['add', (balancer: Balancer<Node>, node: Node) => balancer.add(node)],
] as const) {
  test(`an id getter that closes its balancer during ${what} leaves neither members nor slots`, (t) => {
    const made = scene()
    const { balancer } = made
    t.throws(
      () =>
        change(
          balancer,
          nodeThat('x', () => void balancer.close()),
        ),
      { instanceOf: ClosedError },
    )
    isEmpty(t, made)
  })

  test(`an id getter that changes the members during ${what} leaves as many slots as members`, (t) => {
    const { table, balancer } = scene()
    const node = nodeThat('x', () => balancer.setNodes([{ id: 'y' }, { id: 'x' }]))
    change(balancer, node)
    t.true(balancer.nodes.some((one) => one === node || one.id === 'x'))
    t.is(table.size, balancer.nodes.length)
    void balancer.close()
    t.is(table.size, 0)
  })
}

test('an array of nodes that closes the balancer as it is read leaves neither members nor slots', (t) => {
  const made = scene()
  const nodes = new Proxy([{ id: 'b' }, { id: 'c' }], {
    get(target, name, receiver) {
      if (name === '1') void made.balancer.close()
      return Reflect.get(target, name, receiver)
    },
  })
  t.throws(() => made.balancer.setNodes(nodes), { instanceOf: ClosedError })
  isEmpty(t, made)
})

test('a getter of a meter’s options that closes the balancer leaves no meter', (t) => {
  const made = scene()
  const options = {
    get metric(): string {
      void made.balancer.close()
      return 'queue'
    },
  }
  t.throws(() => made.balancer.meter('a' as never, options as never))
  isEmpty(t, made)
})

for (const hook of ['onNodeChange', 'onRelease'] as const) {
  test(`${hook} that closes its balancer leaves neither members nor slots`, (t) => {
    const table = createTable()
    let balancer: Balancer<Node> | undefined
    const algorithm = custom({ select: () => 0, [hook]: () => void balancer?.close() })
    balancer = createBalancer<Node>({ nodes: [{ id: 'a' }], table, algorithm, poll: false })
    const lease = balancer.acquire()
    if (hook === 'onRelease') lease.release()
    else balancer.setNodes([{ id: 'b' }, { id: 'c' }])
    isEmpty(t, { table, balancer })
  })
}
