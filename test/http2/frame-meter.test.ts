import test from 'ava'
import fc from 'fast-check'
import { FrameMeter } from '../../dist/http2/frame-meter.js'
import { frame } from '../support/hostile-grpc.js'

const MANY = { burst: 1e9, rate: 0 }

/** How often a meter that never refuses saw a frame begin. */
function framesIn(chunks: readonly Uint8Array[], preface = 0): number {
  let frames = 0
  const meter = new FrameMeter({ frames: MANY, bytes: MANY, preface }, 0, () => {
    frames++
    return true
  })
  for (const chunk of chunks) meter.take(chunk, 0)
  return frames
}

test('frames are counted whatever their kind and length, and however they are cut into pieces', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 70_000 }), { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1 }),
      fc.nat({ max: 255 }),
      fc.constantFrom(0, 24),
      (lengths, cuts, type, preface) => {
        const bytes = Buffer.concat([
          Buffer.alloc(preface, 0xff),
          ...lengths.map((length) => frame(type, 0, 1, Buffer.alloc(length, 0xff))),
        ])
        const chunks: Buffer[] = []
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const end = at + (cuts[i % cuts.length] as number)
          chunks.push(bytes.subarray(at, end))
          at = end
        }
        return framesIn(chunks, preface) === lengths.length
      },
    ),
    { numRuns: 50 },
  )
  t.pass()
})

test('a burst of frames is allowed, and then so many a second', (t) => {
  const meter = new FrameMeter({ frames: { burst: 10, rate: 5 }, bytes: MANY, preface: 0 }, 0)
  const one = frame(0xfa, 0, 0, Buffer.alloc(0))
  for (let i = 0; i < 10; i++) t.is(meter.take(one, 0), undefined)
  for (let second = 1; second < 100; second++) {
    for (let i = 0; i < 5; i++) t.is(meter.take(one, second * 1_000), undefined)
  }
  t.is(meter.take(one, 99_000), 'more frames of HTTP/2 than reports need')
})

test('bytes are limited however few frames they are in', (t) => {
  const meter = new FrameMeter({ frames: MANY, bytes: { burst: 1_000, rate: 100 }, preface: 0 }, 0)
  const one = frame(0, 0, 1, Buffer.alloc(491))
  t.is(meter.take(one, 0), undefined)
  t.is(meter.take(one, 0), undefined)
  t.is(meter.take(one, 5_000), undefined)
  t.is(meter.take(one, 5_001), 'more bytes of HTTP/2 than reports need')
})
