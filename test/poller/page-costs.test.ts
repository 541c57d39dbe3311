import test from 'ava'
import { CpuRate } from '../../dist/poller/cpu-rate.js'
import { PageCosts } from '../../dist/poller/page-costs.js'
import { cpuCounters } from '../../dist/reports/node-cpu.js'

const MIB = 2 ** 20

/** In how many rounds of so many each of these members is asked. */
function asked(costs: readonly number[], rounds: number): number[] {
  const pages = new PageCosts()
  const members = costs.map((cost) => ({ cost, off: 0, asked: 0 }))
  for (let round = 0; round < rounds; round++) {
    for (const member of members) {
      if (member.off > 0) member.off--
      else {
        member.asked++
        member.off = pages.note(member, member.cost)
      }
    }
  }
  return members.map((member) => member.asked)
}

test('members whose pages take much more than those of others take as much as four others at most', (t) => {
  const usual = 150_000
  const costs = [...new Array(9).fill(usual), 64 * MIB]
  const rounds = 1_000
  const [one = 0, ...rest] = asked(costs, rounds).reverse()
  t.deepEqual(rest, new Array(9).fill(rounds))
  // The first page comes before it is known what is usual.
  t.true((one - 1) * 64 * MIB <= 4 * usual * rounds)
  t.true(one >= 9)
})

test('pages of some hundred KiB, and pages that are all long, are read in each round', (t) => {
  t.deepEqual(asked([1_000, 1_000, 1_000, 500_000], 20), [20, 20, 20, 20])
  t.deepEqual(asked(new Array(5).fill(64 * MIB), 20), new Array(5).fill(20))
  t.deepEqual(asked([64 * MIB], 20), [20])
})

test('a minority can not say what is usual', (t) => {
  const counts = asked([...new Array(60).fill(100_000), ...new Array(40).fill(64 * MIB)], 300)
  t.true(counts.slice(0, 60).every((count) => count === 300))
  t.true(counts.slice(60).every((count) => count <= 5))
})

test('what a page took counts its lines, and more so those that were read', (t) => {
  const workOf = (page: string) => {
    const rate = new CpuRate({ kind: 'node' })
    try {
      rate.readBody(page, 0)
    } catch {
      // What it took counts all the same.
    }
    return rate.work
  }
  t.is(workOf('x'.repeat(1_000)), 1_000 + 16)
  t.is(workOf('\n'.repeat(1_000)), 17_000)
  const line = 'node_cpu_seconds_total{cpu="0",mode="idle"} 1'
  t.is(workOf(`${line}\n`), line.length + 1 + 16 + 50 * line.length)
})

test('of the lines that count at most 1 MiB are read', (t) => {
  const line = 'node_cpu_seconds_total{cpu="0",mode="idle"} 1'
  const pageOf = (lines: number) => `${line}\n`.repeat(lines)
  const most = Math.floor(MIB / line.length)
  t.is(cpuCounters(pageOf(most), { kind: 'node' }, 0).total, most)
  t.throws(() => cpuCounters(pageOf(most + 1), { kind: 'node' }, 0), {
    message: /at most 1048576 characters/,
  })
})
