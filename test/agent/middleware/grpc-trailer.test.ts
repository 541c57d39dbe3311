import * as grpc from '@grpc/grpc-js'
import test from 'ava'
import { grpcInterceptor } from '../../../dist/agent/index.js'
import { trailerMaker } from '../../../dist/agent/middleware/grpc-trailer.js'
import { clientOf, listenGrpc, serviceOf } from '../../support/grpc.js'
import { fakeAgent } from './support.js'

const TRAILER = 'endpoint-load-metrics-bin'
const BYTES = Buffer.from([1, 2, 3, 255])
const make = trailerMaker(grpc.Metadata)

function usual(): grpc.Metadata {
  const metadata = new grpc.Metadata()
  metadata.set(TRAILER, BYTES)
  return metadata
}

/** All that can be asked of metadata. */
function told(metadata: grpc.Metadata): unknown[] {
  return [
    metadata.get(TRAILER),
    metadata.get('other'),
    metadata.getMap(),
    metadata.toHttp2Headers(),
    metadata.toJSON(),
    metadata.getOptions(),
    metadata instanceof grpc.Metadata,
  ]
}

test('metadata of a report are as those that were set, and so are their copies', (t) => {
  t.deepEqual(told(make(BYTES)), told(usual()))
  t.deepEqual(told(make(BYTES).clone()), told(usual()))
  t.deepEqual(told(make(BYTES).clone().clone()), told(usual()))
})

const changes: Readonly<Record<string, (metadata: grpc.Metadata) => void>> = {
  set: (metadata) => metadata.set(TRAILER, Buffer.from('other')),
  'set of another': (metadata) => metadata.set('other', 'value'),
  add: (metadata) => metadata.add(TRAILER, Buffer.from('second')),
  remove: (metadata) => metadata.remove(TRAILER),
  merge: (metadata) => metadata.merge(usual()),
  setOptions: (metadata) => metadata.setOptions({ idempotentRequest: true }),
}

for (const [name, change] of Object.entries(changes)) {
  test(`${name} changes a copy as it would any, and neither what it is of nor other copies`, (t) => {
    const [shared, expected] = [make(BYTES), usual()]
    const [copy, other] = [shared.clone(), shared.clone()]
    change(copy)
    change(expected)
    t.deepEqual(told(copy), told(expected))
    t.deepEqual(told(copy.clone()), told(expected.clone()))
    t.deepEqual(told(shared), told(usual()))
    t.deepEqual(told(other), told(usual()))
  })
}

test('one is merged into others', (t) => {
  const metadata = new grpc.Metadata()
  metadata.merge(make(BYTES))
  t.deepEqual(told(metadata), told(usual()))
})

test('where the module has metadata of another kind, they are made by it alone', (t) => {
  class Other {
    readonly values = new Map<string, Buffer>()
    set(key: string, value: Buffer): void {
      this.values.set(key, value)
    }
    clone(): Other {
      return this
    }
  }
  const made = trailerMaker(Other)(BYTES)
  t.is(made.constructor, Other)
  t.deepEqual([...made.values], [[TRAILER, BYTES]])
})

test("what a server records of a call itself is in that call's trailer alone", async (t) => {
  const fake = fakeAgent()
  const server = new grpc.Server({
    interceptors: [grpcInterceptor(fake.agent, grpc, { reuse: 3_600_000 })],
    'grpc.server_call_metric_recording': 1,
  })
  const unary: grpc.handleUnaryCall<Buffer, Buffer> = (call, done) => {
    call.getMetricsRecorder().recordCPUUtilizationMetric(call.request[0] ?? 0)
    done(null, call.request)
  }
  server.addService(serviceOf('/shop.Carts/Add'), { method: unary })
  const client = clientOf(t, await listenGrpc(t, server))
  const call = (cpu: number) =>
    new Promise<unknown>((resolve) => {
      const asIs = (bytes: Buffer): Buffer => bytes
      client
        .makeUnaryRequest('/shop.Carts/Add', asIs, asIs, Buffer.of(cpu), () => {})
        .on('status', ({ metadata }) => resolve(metadata.get(TRAILER)))
    })
  const [one, two] = [await call(1), await call(2)]
  t.notDeepEqual(one, two)
  t.deepEqual(await call(1), one)
})
