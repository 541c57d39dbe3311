import test from 'ava'
import fc from 'fast-check'
import { framedMessage, MessageReader, unframedMessage } from '../../dist/http2/grpc-messages.js'

test('messages come out as they went in, however they are cut into pieces', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 10 }),
      fc.integer({ min: 1, max: 400 }),
      (messages, cut) => {
        const bytes = Buffer.concat(messages.map(framedMessage))
        const reader = new MessageReader(300)
        const read: Uint8Array[] = []
        for (let at = 0; at < bytes.length; at += cut) {
          reader.take(bytes.subarray(at, at + cut), (message) => read.push(message) > 0)
        }
        t.deepEqual(
          read.map((one) => [...one]),
          messages.map((one) => [...one]),
        )
        for (const message of messages) {
          t.deepEqual([...unframedMessage(framedMessage(message), 300)], [...message])
        }
      },
    ),
  )
})

test('once nothing more is wanted of a stream, what is left of a piece is not read', (t) => {
  let read = 0
  new MessageReader(10).take(Buffer.alloc(50), () => ++read < 3)
  t.is(read, 3)
})

for (const { what, bytes, why } of [
  { what: 'that is compressed', bytes: '010000000100', why: /compressed/ },
  { what: 'with flags that mean nothing', bytes: 'ff00000000', why: /compressed/ },
  { what: 'that is too long', bytes: '000000000b', why: /11 bytes: at most 10 are read/ },
  { what: 'of 4 GB', bytes: '00ffffffff', why: /4294967295 bytes/ },
]) {
  test(`a message ${what} is refused by its head, before any of it is kept`, (t) => {
    t.throws(() => new MessageReader(10).take(Buffer.from(bytes, 'hex'), () => true), { message: why })
  })
}
