// A server for `undici-child.ts`, as a process of its own: `undici-server.ts INDEX`. Sends its port. It answers every request
// the same, without looking at it: what is measured is who sends. At `/work` it takes a time for it, and one request after
// the other.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Chance } from '../chance.js'

/** Mean times of requests for `/work`, ms: of all servers, and of the first one, which has other work. By chance, exponentially. */
const SERVICE = 30
const BUSY_SERVICE = 60

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello')

const index = Number(process.argv[2])
const chance = new Chance(2 + index)
const service = index === 0 ? BUSY_SERVICE : SERVICE
let free = 0
const work = (socket: Socket): void => {
  const now = performance.now()
  free = Math.max(free, now) + service * chance.exponential()
  setTimeout(() => socket.write(ANSWER), free - now)
}
const server = createServer((socket) => {
  socket.setNoDelay()
  socket.on('error', () => {})
  // A request is one chunk: it is small, and the next comes after its answer.
  socket.on('data', (chunk) => {
    if (chunk.includes('GET /work')) work(socket)
    else socket.write(ANSWER)
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.send?.((server.address() as AddressInfo).port)
process.on('disconnect', () => process.exit())
