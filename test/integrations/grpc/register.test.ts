import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as grpc from '@grpc/grpc-js'
import test, { type ExecutionContext } from 'ava'
import { OptionError, PeerError } from '../../../dist/index.js'
import { registerIdlestPolicies, TESTED_GRPC } from '../../../dist/integrations/grpc/index.js'
import { child } from '../../support/child.js'

const integration = new URL('../../../dist/integrations/grpc/index.js', import.meta.url)
const NAMES = ['idlest_weighted_round_robin', 'idlest_adaptive']

/** A module as though it were grpc-js of this version. */
async function moduleOf(t: ExecutionContext, version: string): Promise<typeof grpc> {
  const folder = await mkdtemp(join(tmpdir(), 'idlest-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const its = join(folder, 'node_modules', '@grpc', 'grpc-js')
  await mkdir(join(its, 'build', 'src'), { recursive: true })
  await writeFile(join(its, 'package.json'), JSON.stringify({ version }))
  const main = join(its, 'build', 'src', 'index.js')
  await writeFile(main, 'exports.Client = class {}')
  return createRequire(import.meta.url)(main)
}

test('both policies are registered with the module that is installed, or the one that is given', (t) => {
  for (const module of [undefined, grpc]) {
    registerIdlestPolicies(module)
    for (const name of NAMES) {
      t.true(grpc.experimental.isLoadBalancerNameRegistered(name))
      const config = grpc.experimental.parseLoadBalancingConfig({ [name]: {} })
      t.is(config.getLoadBalancerName(), name)
      t.deepEqual(config.toJsonObject(), { [name]: {} })
    }
  }
})

test('a version that was not tested is an error that says which were, and how to get one', async (t) => {
  for (const version of ['1.13.4', '1.15.0', '2.14.0', '1.14']) {
    const module = await moduleOf(t, version)
    const error = t.throws(() => registerIdlestPolicies(module), {
      instanceOf: PeerError,
      code: 'IDLEST_PEER',
    })
    t.is(
      error?.message,
      `@grpc/grpc-js is ${version}: tested is ${TESTED_GRPC}; npm install @grpc/grpc-js@${TESTED_GRPC}`,
    )
    t.deepEqual([error?.package, error?.version, error?.tested], ['@grpc/grpc-js', version, TESTED_GRPC])
    t.throws(() => registerIdlestPolicies(grpc, { version }), { instanceOf: PeerError })
  }
})

test("a module whose version can't be found out is an error, unless the caller says it", (t) => {
  const bundled = { ...grpc, Client: class extends grpc.Client {} }
  const error = t.throws(() => registerIdlestPolicies(bundled), { instanceOf: PeerError })
  t.is(error?.version, undefined)
  t.regex(error?.message ?? '', /can't be found out/)
  t.notThrows(() => registerIdlestPolicies(bundled, { version: '1.14.3' }))
})

test('without the package it is an error that says how to install it', async (t) => {
  const { exit, said } = child(
    t,
    `
    import Module from 'node:module'
    import { registerIdlestPolicies } from '${integration}'
    const resolve = Module._resolveFilename
    Module._resolveFilename = (name, ...rest) => resolve(name.startsWith('@grpc/') ? 'missing-package' : name, ...rest)
    try { registerIdlestPolicies() } catch (error) { console.log(error.code, error.message) }
    `,
  )
  t.deepEqual(await exit, [0, null])
  t.is(
    said(),
    `IDLEST_PEER @grpc/grpc-js is not installed: tested is ${TESTED_GRPC}; npm install @grpc/grpc-js@${TESTED_GRPC}\n`,
  )
})

test('options that are wrong are errors at once', (t) => {
  for (const options of [
    { balancer: { engine: 'fast' } },
    { balancer: { nodes: ['a'] } },
    { balancer: { seed: -1 } },
    { balancer: 1 },
    { onBalancer: 1 },
    { versions: '1' },
    1,
  ]) {
    t.throws(
      () => registerIdlestPolicies(grpc, options as never),
      { instanceOf: OptionError },
      JSON.stringify(options),
    )
  }
})

for (const [field, value] of [
  ['blackoutPeriod', '10'],
  ['blackoutPeriod', 10],
  ['blackout_period', '-1s'],
  ['weightExpirationPeriod', { seconds: 1 }],
  ['weightUpdatePeriod', ''],
  ['oobLoadReportingPeriod', '1m'],
  ['enableOobLoadReport', 'yes'],
  ['errorUtilizationPenalty', -1],
  ['errorUtilizationPenalty', '1'],
  ['metricNamesForComputingUtilization', 'cpu_utilization'],
  ['metricNamesForComputingUtilization', ['utilization.']],
] as const) {
  test.serial(`a config with ${field} ${JSON.stringify(value)} is refused, and warned of once`, async (t) => {
    registerIdlestPolicies(grpc)
    const warnings: Error[] = []
    const hear = (warning: Error) => warnings.push(warning)
    process.on('warning', hear)
    t.teardown(() => process.off('warning', hear))
    const parse = () =>
      grpc.experimental.parseLoadBalancingConfig({ idlest_weighted_round_robin: { [field]: value } })
    const error = t.throws(parse)
    t.regex(error?.message ?? '', /^idlest_weighted_round_robin: option /)
    t.throws(parse)
    await new Promise(setImmediate)
    t.is(warnings.filter((warning) => 'code' in warning && warning.code === 'IDLEST_GRPC_CONFIG').length, 1)
  })
}

test('fields that are null are as though left out, and times that are longer than any timer are for ever', (t) => {
  registerIdlestPolicies(grpc)
  const parse = (config: object) =>
    grpc.experimental.parseLoadBalancingConfig({ idlest_weighted_round_robin: config })
  const of = (config: object) => (parse(config) as unknown as { algorithm: object }).algorithm
  t.deepEqual(of({ blackoutPeriod: null }), of({}))
  t.like(of({ weightExpirationPeriod: '315576000000s', weightUpdatePeriod: '0.000000001s' }), {
    weightExpirationPeriod: 2 ** 31 - 1,
    weightUpdatePeriod: 100,
  })
})
