import type { ServiceDefinition } from '@grpc/grpc-js'

export const ANSWER_PATH = '/bench.Service/Answer'

export const asIs = (bytes: Buffer): Buffer => bytes

/** One unary method whose messages are bytes. */
export function answerService(path: string): ServiceDefinition {
  return {
    answer: {
      path,
      requestStream: false,
      responseStream: false,
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    },
  }
}
