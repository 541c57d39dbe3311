// Servers of gRPC that send a report with each answer: the message is where they are, as a target of grpc-js.
import * as grpc from '@grpc/grpc-js'
import { reportTrailer } from '../../dist/agent/report-header.js'
import { BINARY_HEADER } from '../../dist/reports/orca-headers.js'
import { ANSWER_PATH, answerService } from './grpc-policies-service.js'

const SERVERS = 8
const ANSWER = Buffer.from('fine')

async function listen(share: number): Promise<string> {
  const server = new grpc.Server()
  const trailer = new grpc.Metadata()
  trailer.set(BINARY_HEADER, reportTrailer({ cpu: 90 * share, qps: 100, eps: 1, memory: 50 }))
  const answer: grpc.handleUnaryCall<Buffer, Buffer> = (_call, done) => done(null, ANSWER, trailer)
  server.addService(answerService(ANSWER_PATH), { answer })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound)
      else reject(error)
    })
  })
  return `127.0.0.1:${port}`
}

const addresses = await Promise.all(Array.from({ length: SERVERS }, (_, i) => listen((i + 1) / SERVERS)))
process.send?.(`ipv4:${addresses.join(',')}`)
// Not after the one who asked.
process.on('disconnect', () => process.exit())
