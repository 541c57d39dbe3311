import test from 'ava'
import fc from 'fast-check'
import { BadKeyError } from '../../dist/errors.js'
import { type Key, KeyHash } from '../../dist/keys/key-hash.js'
import { murmur3Bytes, murmur3Pair, murmur3Text, murmur3Triple } from '../../dist/keys/murmur3.js'
import { xxh32Bytes, xxh32Pair, xxh32Text } from '../../dist/keys/xxh32.js'
import { kept } from '../support/kept.js'

const FOX = 'The quick brown fox jumps over the lazy dog'

// Values that are published for MurmurHash3_x86_32.
const murmur3: readonly (readonly [string | number[], number, number])[] = [
  ['', 0, 0],
  ['', 1, 0x514e28b7],
  ['', 0xffffffff, 0x81f16f39],
  [[0xff, 0xff, 0xff, 0xff], 0, 0x76293b50],
  [[0x21, 0x43, 0x65, 0x87], 0, 0xf55b516b],
  [[0x21, 0x43, 0x65, 0x87], 0x5082edee, 0x2362f9de],
  [[0x21, 0x43, 0x65], 0, 0x7e4a8634],
  [[0x21, 0x43], 0, 0xa0f7b07a],
  [[0x21], 0, 0x72661cf4],
  [[0, 0, 0, 0], 0, 0x2362f9de],
  [[0, 0, 0], 0, 0x85f0b427],
  [[0, 0], 0, 0x30f4c306],
  [[0], 0, 0x514e28b7],
  ['a', 0x9747b28c, 0x7fa09ea6],
  ['aa', 0x9747b28c, 0x5d211726],
  ['aaa', 0x9747b28c, 0x283e0130],
  ['aaaa', 0x9747b28c, 0x5a97808a],
  ['abc', 0, 0xb3dd93fa],
  ['test', 0, 0xba6bd213],
  ['Hello, world!', 0x9747b28c, 0x24884cba],
  ['ππππππππ', 0x9747b28c, 0xd58063c1],
  [FOX, 0, 0x2e4ff723],
  [FOX, 0x9747b28c, 0x2fa826cd],
]

// The same for XXH32.
const xxh32: readonly (readonly [string | number[], number, number])[] = [
  ['', 0, 0x02cc5d05],
  ['', 0x9e3779b1, 0x36b78ae7],
  ['a', 0, 0x550d7456],
  ['abc', 0, 0x32d153ff],
  ['Nobody inspects the spammish repetition', 0, 0xe2293b2f],
  [FOX, 0, 0xe85ea4de],
]

for (const [name, known, ofText, ofBytes] of [
  ['murmur3', murmur3, murmur3Text, murmur3Bytes],
  ['xxh32', xxh32, xxh32Text, xxh32Bytes],
] as const) {
  test(`${name} gives the values that are published for it`, (t) => {
    for (const [input, seed, hash] of known) {
      const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : Uint8Array.from(input)
      t.is(ofBytes(bytes, bytes.length, seed) >>> 0, hash, JSON.stringify(input))
      if (typeof input === 'string') t.is(ofText(input, seed) >>> 0, hash, input)
    }
  })

  test(`${name} of any text is that of its UTF-8, whatever was hashed before`, (t) => {
    const encoder = new TextEncoder()
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.string(),
        fc.nat(),
        (text, other, seed) => {
          for (const one of [text, other, text]) {
            const bytes = encoder.encode(one)
            if (ofText(one, seed) !== ofBytes(bytes, bytes.length, seed)) return false
          }
          return true
        },
      ),
      { numRuns: 2_000 },
    )
    t.is(ofText('\ud800x', 5), ofText('\ufffdx', 5))
    t.is(ofText('x\udc00', 5), ofText('x\ufffd', 5))
    t.not(ofText('\ud83d\ude00', 5), ofText('\ufffd\ufffd', 5))
  })
}

test('words hash as their bytes, little-endian', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { minLength: 3, maxLength: 3 }), fc.nat(), (words, seed) => {
      const bytes = new Uint8Array(Int32Array.from(words).buffer)
      const [a, b, c] = words as [number, number, number]
      t.is(murmur3Pair(a, b, seed), murmur3Bytes(bytes, 8, seed))
      t.is(xxh32Pair(a, b, seed), xxh32Bytes(bytes, 8, seed))
      t.is(murmur3Triple(a, b, c), murmur3Bytes(bytes, 12, 0))
    }),
    { numRuns: 300 },
  )
})

for (const name of ['murmur3', 'xxh32'] as const) {
  const hash = new KeyHash(name)

  test(`${name}: a number is hashed as its double, and -0 as 0`, (t) => {
    const bytesOf = (value: number) => new Uint8Array(Float64Array.of(value).buffer)
    for (const value of [0, 1, -1, 2 ** 32, 2 ** 53, 0.1, 5e-324, Number.MAX_VALUE]) {
      t.is(hash.of(value), hash.of(bytesOf(value)), `${value}`)
    }
    t.is(hash.of(-0), hash.of(0))
    t.not(hash.of(1), hash.of('1'))
  })

  test(`${name}: bytes hash as the text that they are, also as a part of a buffer`, (t) => {
    t.is(hash.of(Buffer.from('user-1')), hash.of('user-1'))
    t.is(hash.of(new TextEncoder().encode('xuser-1y').subarray(1, 7)), hash.of('user-1'))
    t.is(hash.of(new Uint8Array(0)), hash.of(''))
  })

  test(`${name}: anything else is no key`, (t) => {
    const wrong = [
      null,
      undefined,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      5n,
      true,
      Symbol('x'),
      {},
      [],
      ['a'],
      new Date(),
      new Uint16Array(2),
      new ArrayBuffer(2),
      () => 1,
    ]
    for (const key of wrong) {
      const error = t.throws(() => hash.of(key as Key), { instanceOf: BadKeyError, code: 'IDLEST_BAD_KEY' })
      t.is(error?.value, kept(key))
    }
  })
}
