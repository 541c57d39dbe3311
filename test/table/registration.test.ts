import test from 'ava'
import fc from 'fast-check'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { NO_SLOT, TIME_BIAS } from '../../dist/table/layout.js'
import { MOST_OWNERS, type Refusal, Registration } from '../../dist/table/registration.js'
import { type Entry, Table } from '../../dist/table/table.js'

function claim(table: Table, { slot, generation }: Entry, owner: number, now: number, until: number) {
  return Registration.claim(table.memory, slot, generation, owner, now, until)
}

function isHeld(result: Registration | Refusal): result is Registration {
  return result instanceof Registration
}

test("a slot is one thread's until it is let go of or lapses", (t) => {
  const table = new Table(new VirtualClock())
  const entry = table.claim('a')
  const first = claim(table, entry, 7, 100, 200)
  if (!isHeld(first)) return t.fail('refused')
  t.deepEqual(claim(table, entry, 8, 200, 300), { kind: 'taken', owner: 7, until: 200 })
  t.true(first.renew(250))
  t.deepEqual(claim(table, entry, 8, 250, 300), { kind: 'taken', owner: 7, until: 250 })
  const second = claim(table, entry, 8, 251, 350)
  if (!isHeld(second)) return t.fail('refused')
  t.false(first.holds)
  t.false(first.renew(500))
  t.false(first.withdraw())
  t.true(second.holds)
  t.true(second.withdraw())
  t.true(isHeld(claim(table, entry, 9, 251, 400)))
})

test('one that lapsed is still held while nobody else registers', (t) => {
  const table = new Table(new VirtualClock())
  const held = claim(table, table.claim('a'), 0, 100, 200)
  t.true(isHeld(held) && held.holds && held.renew(10_000))
})

test('a node that left takes its registration along', (t) => {
  const table = new Table(new VirtualClock(), 1)
  const old = table.claim('a')
  const held = claim(table, old, MOST_OWNERS, 100, 200)
  table.unclaim(old)
  const next = table.claim('b')
  t.is(next.slot, old.slot)
  t.false(isHeld(held) && held.renew(300))
  t.deepEqual(claim(table, old, 1, 100, 200), { kind: 'left' })
  t.deepEqual(claim(table, { ...old, slot: NO_SLOT }, 1, 100, 200), { kind: 'left' })
  t.true(isHeld(claim(table, next, 1, 100, 200)))
})

test('at most one thread holds a slot, whoever registers, renews, lapses and withdraws', (t) => {
  const step = fc.record({
    owner: fc.nat(3),
    act: fc.constantFrom('claim', 'renew', 'withdraw'),
    wait: fc.nat(80),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const table = new Table(new VirtualClock())
      const entry = table.claim('a')
      const held: (Registration | undefined)[] = []
      // The model: who has it, and until when.
      let holder = -1
      let until = 0
      let now = TIME_BIAS
      for (const { owner, act, wait } of steps) {
        now += wait
        if (act === 'claim') {
          const result = claim(table, entry, owner, now, now + 50)
          t.is(isHeld(result), holder < 0 || until < now)
          if (isHeld(result)) {
            held[owner] = result
            holder = owner
            until = now + 50
          }
        } else {
          const mine = holder === owner
          const done = act === 'renew' ? held[owner]?.renew(now + 50) : held[owner]?.withdraw()
          t.is(done ?? false, mine)
          if (mine) until = now + 50
          if (mine && act === 'withdraw') holder = -1
        }
        for (const [i, one] of held.entries()) t.is(one?.holds ?? false, i === holder)
      }
    }),
  )
})
