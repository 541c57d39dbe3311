// A DNS server on loopback that answers as a test says, written against RFC 1035 alone.
import { createSocket } from 'node:dgram'
import { createServer, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'

const CODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const
const TYPES: Readonly<Record<number, 'A' | 'AAAA' | 'SRV'>> = { 1: 'A', 28: 'AAAA', 33: 'SRV' }
const TRUNCATED = 0x0200
/** The longest answer over UDP, as without EDNS. */
const MOST_BYTES = 512

export interface Answer {
  readonly code?: keyof typeof CODES
  /** Addresses of the kind that was asked for; or services, as `priority weight port target`. */
  readonly records?: readonly string[]
  /** Seconds. Default 60. */
  readonly ttl?: number
  /** Bytes to answer with in place of an answer. */
  readonly garbage?: boolean
}

export interface Question {
  readonly name: string
  readonly type: 'A' | 'AAAA' | 'SRV' | 'other'
  readonly over: 'udp' | 'tcp'
}

/** Answers, or says nothing. */
export type Script = (question: Question) => Answer | undefined

function nameBytes(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '')
  return Buffer.concat([
    ...labels.map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ])
}

function word(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff])
}

function ipv6Bytes(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::')
  const groups = (part: string) => part.split(':').filter((group) => group !== '')
  const [first, last] = [groups(head), groups(tail)]
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0')
  return Buffer.concat([...first, ...zeros, ...last].map((group) => word(Number.parseInt(group, 16))))
}

function dataOf(type: Question['type'], record: string): Buffer {
  if (type === 'A') return Buffer.from(record.split('.').map(Number))
  if (type === 'AAAA') return ipv6Bytes(record)
  const [priority, weight, port, target = ''] = record.split(' ')
  return Buffer.concat([word(Number(priority)), word(Number(weight)), word(Number(port)), nameBytes(target)])
}

function questionOf(message: Buffer, over: 'udp' | 'tcp'): { question: Question; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const type = TYPES[message.readUInt16BE(at + 1)] ?? 'other'
  return { question: { name: labels.join('.').toLowerCase(), type, over }, end: at + 5 }
}

function answerTo(message: Buffer, over: 'udp' | 'tcp', script: Script): Buffer | undefined {
  const { question, end } = questionOf(message, over)
  const answer = script(question)
  if (answer === undefined) return undefined
  if (answer.garbage) return Buffer.concat([message.subarray(0, 2), Buffer.alloc(20, 0xff)])
  const { code = 'NOERROR', records = [], ttl = 60 } = answer
  const data = records.map((record) => {
    const bytes = dataOf(question.type, record)
    const times = Buffer.alloc(4)
    times.writeUInt32BE(ttl)
    // The name is the question's.
    return Buffer.concat([word(0xc00c), message.subarray(end - 4, end), times, word(bytes.length), bytes])
  })
  const head = (flags: number, count: number) =>
    Buffer.concat([
      message.subarray(0, 2),
      word(0x8180 | flags | CODES[code]),
      word(1),
      word(count),
      word(0),
      word(0),
    ])
  const asked = message.subarray(12, end)
  const whole = Buffer.concat([head(0, data.length), asked, ...data])
  return over === 'udp' && whole.length > MOST_BYTES ? Buffer.concat([head(TRUNCATED, 0), asked]) : whole
}

function bindUdp(port: number): Promise<ReturnType<typeof createSocket>> {
  const socket = createSocket('udp4')
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.bind(port, '127.0.0.1', () => resolve(socket))
  })
}

/** A server that runs until the test ends. */
export class DnsServer {
  /** What was asked. */
  readonly questions: Question[] = []
  script: Script
  /** `host:port`, as `setServers` takes it. */
  readonly address: string

  private constructor(port: number, script: Script) {
    this.address = `127.0.0.1:${port}`
    this.script = script
  }

  static async start(t: Pick<ExecutionContext, 'teardown'>, script: Script): Promise<DnsServer> {
    const sockets = new Set<Socket>()
    let server: DnsServer | undefined
    const answer = (message: Buffer, over: 'udp' | 'tcp') =>
      answerTo(message, over, (question) => {
        server?.questions.push(question)
        return server?.script(question)
      })
    const tcp = createServer((socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      let bytes = Buffer.alloc(0)
      socket.on('error', () => {})
      socket.on('data', (chunk) => {
        bytes = Buffer.concat([bytes, chunk as Buffer])
        while (bytes.length >= 2 && bytes.length >= 2 + bytes.readUInt16BE(0)) {
          const message = bytes.subarray(2, 2 + bytes.readUInt16BE(0))
          bytes = bytes.subarray(2 + message.length)
          const reply = answer(message, 'tcp')
          if (reply !== undefined) socket.write(Buffer.concat([word(reply.length), reply]))
        }
      })
    })
    await new Promise<void>((resolve) => {
      tcp.listen(0, '127.0.0.1', resolve)
    })
    const address = tcp.address()
    const port = address !== null && typeof address === 'object' ? address.port : 0
    const udp = await bindUdp(port)
    udp.on('message', (message, { port: to }) => {
      const reply = answer(message, 'udp')
      if (reply !== undefined) udp.send(reply, to, '127.0.0.1')
    })
    t.teardown(() => {
      udp.close()
      tcp.close()
      for (const socket of sockets) socket.destroy()
    })
    server = new DnsServer(port, script)
    return server
  }

  /** How often records of a name were asked for. */
  asked(type: Question['type'], name: string): number {
    return this.questions.filter((question) => question.type === type && question.name === name).length
  }
}

/** The list in another order. */
export function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)
}
