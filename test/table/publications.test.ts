import test from 'ava'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import * as layout from '../../dist/table/layout.js'
import { Publications } from '../../dist/table/publications.js'
import { Table } from '../../dist/table/table.js'

function setUp(spacing?: number) {
  const clock = new VirtualClock(1_000)
  const { memory } = new Table(clock)
  const before = Atomics.load(memory.header, layout.GENERATION_WORD)
  const publications = new Publications(memory, clock, spacing)
  return { clock, publications, made: () => Atomics.load(memory.header, layout.GENERATION_WORD) - before }
}

test('the first publication is made at once, those that follow within the spacing as one', async (t) => {
  const { clock, publications, made } = setUp()
  publications.soon()
  t.is(made(), 1)
  for (let i = 0; i < 5; i++) publications.soon()
  await clock.advance(49)
  publications.soon()
  t.is(made(), 1)
  await clock.advance(1)
  t.is(made(), 2)
  await clock.advance(1_000)
  t.is(made(), 2)
})

test('what keeps coming is published once a spacing, no less and no more', async (t) => {
  const { clock, publications, made } = setUp(20)
  for (let ms = 0; ms < 1_000; ms++) {
    publications.soon()
    await clock.advance(1)
  }
  t.is(made(), 51)
})

test('with no spacing each is made at once', (t) => {
  const { clock, publications, made } = setUp(0)
  for (let i = 0; i < 5; i++) publications.soon()
  t.is(made(), 5)
  t.is(clock.pending, 0)
})

test('once closed it publishes nothing, and leaves no timer', async (t) => {
  const { clock, publications, made } = setUp()
  publications.soon()
  publications.soon()
  publications.close()
  t.is(clock.pending, 0)
  await clock.advance(100)
  publications.soon()
  t.is(made(), 1)
})
