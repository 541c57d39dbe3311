import test from 'ava'
import type { Answer } from '../../dist/poller/answer.js'
import type { PlacedMember } from '../../dist/poller/member.js'
import { QuarantinedMember } from '../../dist/poller/quarantine.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

const HEARD: Answer = { kind: 'heard' }

/** A member whose parts do as the test says, and its quarantine in virtual time. */
function quarantined(parts: Partial<PlacedMember>) {
  const clock = new VirtualClock(1_000)
  const faults: string[] = []
  const made: PlacedMember[] = []
  const member = new QuarantinedMember(
    'a',
    { slot: 3, generation: 7 },
    {
      clock,
      random: () => 0.5,
      make() {
        const one = { id: 'a', slot: 3, generation: 7, ask: async () => HEARD, cancel() {}, ...parts }
        made.push(one)
        return one
      },
      onFault: ({ reason }) => faults.push(reason),
    },
  )
  return { clock, faults, made, member }
}

const bug = (): never => {
  throw new Error('a bug')
}

for (const [what, parts, provoke] of [
  ['throws when it is asked', { ask: bug }, (member: PlacedMember) => member.ask()],
  ['rejects when it is asked', { ask: async () => bug() }, (member: PlacedMember) => member.ask()],
  ['throws when its ask is given up', { cancel: bug }, (member: PlacedMember) => member.cancel('late')],
] as const) {
  test(`a member that ${what} is left out, and says why each time`, async (t) => {
    const { member, faults, made, clock } = quarantined(parts)
    await provoke(member)
    const reason = 'what it sent could not be handled (a bug); left out for 5 s'
    t.deepEqual(faults, [reason])
    for (let i = 0; i < 10; i++) {
      clock.jump(100)
      t.deepEqual(await member.ask(), { kind: 'error', reason })
    }
    t.is(made.length, 1)
    t.is(faults.length, 1)
  })
}

test('it is made anew after waits that grow to five minutes, and from the start again once it has been well', async (t) => {
  let wrong = true
  const { member, made, clock } = quarantined({ ask: async () => (wrong ? bug() : HEARD) })
  const waits: number[] = []
  for (let i = 0; i < 8; i++) {
    await member.ask()
    const { length } = made
    const left = clock.now()
    while (made.length === length) {
      clock.jump(1_000)
      if (made.length === length) await member.ask()
      if (made.length > length) waits.push((clock.now() - left) / 1_000)
    }
  }
  t.deepEqual(waits, [5, 10, 20, 40, 80, 160, 300, 300])
  wrong = false
  clock.jump(300_000)
  t.deepEqual(await member.ask(), HEARD)
  clock.jump(60_000)
  wrong = true
  t.like(await member.ask(), { reason: 'what it sent could not be handled (a bug); left out for 5 s' })
})

test('an ask that waits when its member is found faulty ends with the fault', async (t) => {
  let settle: (answer: Answer) => void = () => {}
  const { member, made } = quarantined({
    ask: () =>
      new Promise((resolve) => {
        settle = resolve
      }),
    close: () => settle({ kind: 'exit', reason: 'closed' }),
  })
  const asked = member.ask()
  member.fault(made[0] as PlacedMember, new Error('out of the blue'))
  t.like(await asked, { kind: 'error' })
})

test('a fault of a member that has been replaced is not its successor’s', async (t) => {
  const { member, made, faults, clock } = quarantined({})
  const first = made[0] as PlacedMember
  member.fault(first, new Error('once'))
  clock.jump(5_000)
  t.deepEqual(await member.ask(), HEARD)
  member.fault(first, new Error('late'))
  t.deepEqual(await member.ask(), HEARD)
  t.is(faults.length, 1)
})

test('what throws as it is closed is closed all the same', (t) => {
  const { member, faults } = quarantined({ close: bug })
  t.notThrows(() => member.close())
  t.deepEqual(faults, [])
})

test('one that can’t be made is left out like one that throws', async (t) => {
  const clock = new VirtualClock(1_000)
  const faults: string[] = []
  const member = new QuarantinedMember(
    'a',
    { slot: 0, generation: 0 },
    {
      clock,
      make: bug,
      random: () => 0.5,
      onFault: ({ reason }) => faults.push(reason),
    },
  )
  t.like(await member.ask(), { kind: 'error' })
  t.is(faults.length, 1)
})
