import * as grpc from '@grpc/grpc-js'
import { type Agent, grpcInterceptor } from '../../dist/index.js'
import { Http2Client } from './http2-client.js'
import type { Switched } from './switched.js'

const PATH = '/bench.Service/Answer'

/** A message as gRPC frames it. */
const MESSAGE = Buffer.from('\0\0\0\0\x04ping')
const ANSWER = Buffer.from('fine')

const HEADERS = {
  ':method': 'POST',
  ':scheme': 'http',
  ':authority': '10.0.0.1:8080',
  ':path': PATH,
  'content-type': 'application/grpc',
  te: 'trailers',
  'user-agent': 'bench',
  authorization: 'Bearer 0123456789abcdef',
  'x-request-id': '2f1e7c1a-5a55-4b0c-8f0f-0a5d0a3f7f11',
}

const asIs = (bytes: Buffer): Buffer => bytes

const service: grpc.ServiceDefinition = {
  answer: {
    path: PATH,
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  },
}

/** A server of gRPC. Calls can't ask for a report: those that would take one along. */
export function startGrpc(agent: Agent, calls: number): Switched {
  // What a server does without interceptors.
  const none: grpc.ServerInterceptor = (_method, call) => call as grpc.ServerInterceptingCall
  const empty: grpc.ServerInterceptor = (_method, call) => new grpc.ServerInterceptingCall(call)
  let current = none
  const server = new grpc.Server({
    interceptors: [(method, call) => current(method, call)],
    'grpc.enable_channelz': 0,
  })
  const answer: grpc.handleUnaryCall<Buffer, Buffer> = (_call, done) => done(null, ANSWER)
  server.addService(service, { answer })
  const client = new Http2Client(HEADERS, MESSAGE)
  server.createConnectionInjector(grpc.ServerCredentials.createInsecure()).injectConnection(client)
  return {
    none() {
      current = none
    },
    make(options, asking) {
      const made = grpcInterceptor(agent, grpc, { ...options, when: () => asking })
      return () => {
        current = made
      }
    },
    empty() {
      current = empty
    },
    turn: () => client.ask(calls),
  }
}
