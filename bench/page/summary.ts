import { caseOf } from '../cases/algorithms.js'
import { KEYED_CASES, KEYED_NODES } from '../cases/keyed.js'
import { ADAPTIVE_LEASES } from '../cases/leases.js'
import { PEER_CASES } from '../compare/names.js'
import { machineWords } from './head.js'
import type { Lookup } from './lookup.js'
import { table } from './markdown.js'

/** The few rows that the README has. */
export function summary(numbers: Lookup): string {
  const { results } = numbers
  const both = (what: string, name: string, nodes: number) => [
    what,
    numbers.ns(name, 'native', nodes),
    numbers.ns(name, 'portable', nodes),
    numbers.floors(name, 'native', nodes),
    numbers.atMost(name, 'native', nodes),
  ]
  const alike = (what: string, name: string, nodes: number) => [
    what,
    numbers.ns(name, '-', nodes),
    'the same code',
    numbers.floors(name, '-', nodes),
    numbers.atMost(name, '-', nodes),
  ]
  const other = (what: string, name: string, nodes: number) => [
    what,
    '',
    numbers.ns(name, '-', nodes),
    numbers.floors(name, '-', nodes),
    '',
  ]
  const { versions } = results
  const rows = [
    both('`select()` by `leastCpu()`, 8 nodes', 'select()', 8),
    both('the same, 10,000 nodes', 'select()', 10_000),
    alike('`select(sameArray)`, 8 nodes', 'select(sameArray)', 8),
    alike('`select(freshArray)`, 8 nodes', 'select(freshArray)', 8),
    both('`balancer.select(freshArray)`, 8 nodes', 'balancer.select(freshArray)', 8),
    both('`acquire()` and `release()` by `adaptive()`, 8 nodes', ADAPTIVE_LEASES, 8),
    both('`leastConnections()`, 10,000 nodes', caseOf('leastConnections'), 10_000),
    both('`hashRing()`, a key of 11 characters, 1,000 nodes', KEYED_CASES.ringKey, KEYED_NODES),
    other('the usual way, all readings looked at, 8 nodes', 'naive scan', 8),
    other('the same, 1,000 nodes', 'naive scan', 1_000),
    other(
      `what undici ${versions.peers.undici ?? ''} picks with in \`BalancedPool\`, 1,000 nodes`,
      PEER_CASES.balancedPool,
      1_000,
    ),
    other('`array[Math.floor(Math.random() * 8)]`', 'array[random]', 8),
  ]
  const measured = results.bars.filter(({ met }) => met !== undefined)
  const missed = measured.filter(({ met }) => !met).length
  const open = results.bars.length - measured.length
  return [
    `By \`npm run bench\`, ${machineWords(results)}; medians. Look at the ratios: they are to the *floor*, an empty call into native code by napi-rs at the same moment.`,
    '',
    table(['', 'native', 'portable', 'to the floor', 'wanted'], rows),
    '',
    (missed === 0
      ? `All ${measured.length} bars are met`
      : `Missed: ${missed} of ${measured.length} bars; in bold where one stands here`) +
      (open === 0 ? '.' : `; ${open} more were not measured.`),
  ].join('\n')
}

/** What picks cost in a hot path, for the guide that begins at `Math.random()`. */
export function hotPath(numbers: Lookup): string {
  const engine = numbers.find('select()', 'native', 8) === undefined ? 'portable' : 'native'
  return table(
    ['', '8 nodes', 'why'],
    [
      ['`nodes[Math.floor(Math.random() * 8)]`', numbers.ns('array[random]', '-', 8), ''],
      [
        'the same array as before, `select(nodes)`',
        numbers.ns('select(sameArray)', '-', 8),
        'its picks are drawn ahead, in blocks',
      ],
      [
        'an array that is new at each call, `select(nodes.filter(…))`',
        numbers.ns('select(freshArray)', '-', 8),
        'each id is looked up',
      ],
      [
        "a balancer's own members, `balancer.select()`",
        numbers.ns('select()', engine, 8),
        'no array is looked at',
      ],
      [
        'the usual way: the readings of all nodes looked at',
        numbers.ns('naive scan', '-', 8),
        `linear: ${numbers.ns('naive scan', '-', 1_000)} with 1,000 nodes`,
      ],
    ],
    3,
  )
}
