import test from 'ava'
import { child } from '../support/child.js'

const dist = new URL('../../dist/', import.meta.url)

/** Flags of a process in which `require` of what begins so does this. */
function requiring(name: string, body: string): string[] {
  const source = `import Module from 'node:module'
    const load = Module._load
    Module._load = function (name, ...rest) {
      if (!name.startsWith('${name}')) return load.call(this, name, ...rest)
      ${body}
    }`
  return ['--import', `data:text/javascript,${encodeURIComponent(source)}`]
}

const missing = (name: string) =>
  requiring(
    name,
    `throw Object.assign(new Error('Cannot find module ' + name), { code: 'MODULE_NOT_FOUND' })`,
  )

const collecting = `
  import { createBalancer, PeerError } from '${new URL('index.js', dist)}'
  import { collectBalancer } from '${new URL('integrations/prometheus/index.js', dist)}'
  import { instrumentBalancer } from '${new URL('integrations/opentelemetry/index.js', dist)}'
  const balancer = createBalancer({ nodes: ['a'], poll: false })
  const tell = (work) => {
    try { work() } catch (error) { console.log(error instanceof PeerError, error.code, error.message, error.tested) }
  }
`

test('without prom-client the error says which versions were tested, and how to install one', async (t) => {
  const { exit, said } = child(
    t,
    `${collecting}
    tell(() => collectBalancer(balancer))`,
    missing('prom-client'),
  )
  t.deepEqual(await exit, [0, null])
  t.is(
    said(),
    'true IDLEST_PEER prom-client is not installed: tested is ^15.0.0; npm install prom-client@^15.0.0 ^15.0.0\n',
  )
})

test('another version of prom-client is refused by name', async (t) => {
  const { exit, said } = child(
    t,
    `${collecting}
    tell(() => collectBalancer(balancer))`,
    requiring('prom-client', `return { version: '11.5.3' }`),
  )
  t.deepEqual(await exit, [0, null])
  t.regex(said(), /^true IDLEST_PEER prom-client is 11\.5\.3: tested is \^15\.0\.0/)
})

test('without @opentelemetry/api, or with one too old, so does the other; a provider that is given needs none', async (t) => {
  const script = `${collecting}
    tell(() => instrumentBalancer(balancer))
    const meter = { createHistogram: () => ({}), createObservableCounter: () => ({}), createObservableGauge: () => ({}), addBatchObservableCallback() {} }
    tell(() => instrumentBalancer(balancer, { meterProvider: { getMeter: () => meter } }))
    console.log('done')`
  const gone = child(t, script, missing('@opentelemetry/'))
  t.deepEqual(await gone.exit, [0, null])
  t.is(
    gone.said(),
    'true IDLEST_PEER @opentelemetry/api is not installed: tested is ^1.9.0; npm install @opentelemetry/api@^1.9.0 ^1.9.0\ndone\n',
  )
  const old = child(t, script, requiring('@opentelemetry/', 'return {}'))
  t.deepEqual(await old.exit, [0, null])
  t.regex(old.said(), /^true IDLEST_PEER @opentelemetry\/api is of a version without metrics: tested is/)
})

test('idlest alone loads neither, and each of both loads its own alone, where it is used', async (t) => {
  const { exit, said } = child(
    t,
    `
    import { createRequire } from 'node:module'
    const loaded = () => {
      const files = Object.keys(createRequire(import.meta.url).cache)
      return ['prom-client', '@opentelemetry'].filter((name) => files.some((file) => file.includes(name))).join()
    }
    const { createBalancer } = await import('${new URL('index.js', dist)}')
    const balancer = createBalancer({ nodes: ['a'], poll: false })
    console.log('idlest:', loaded())
    const { collectBalancer } = await import('${new URL('integrations/prometheus/index.js', dist)}')
    const { instrumentBalancer } = await import('${new URL('integrations/opentelemetry/index.js', dist)}')
    console.log('imported:', loaded())
    instrumentBalancer(balancer)
    console.log('instrumented:', loaded())
    collectBalancer(balancer)
    console.log('collected:', loaded())
    `,
  )
  t.deepEqual(await exit, [0, null])
  t.is(said(), 'idlest: \nimported: \ninstrumented: @opentelemetry\ncollected: prom-client,@opentelemetry\n')
})
