import type { CaseResult, Topic } from '../case.js'
import { count, digits } from '../numbers.js'
import { type Lookup, NONE } from './lookup.js'
import { table } from './markdown.js'

interface Words {
  readonly title: string
  /** What the figures mean; may have some in it. */
  readonly about: (numbers: Lookup) => string
}

/** What stands above the tables of each topic. */
const WORDS: Readonly<Record<Exclude<Topic, 'peers'>, Words>> = {
  floor: {
    title: 'The floors',
    about: () =>
      'What is in every figure (an empty loop), and what a call through Node-API costs that does nothing: in C++ by node-addon-api, in Rust by napi-rs, and with something to take in. Whatever crosses into native code once a pick costs at least that.',
  },
  picks: {
    title: 'Picks among members',
    about: (numbers) =>
      `By \`leastCpu()\`. **A pick is as fast in TypeScript as in Rust** where it comes off a block of decisions either way: ${numbers.ns('select()', 'native', 8)} and ${numbers.ns('select()', 'portable', 8)} with 8 nodes, ${numbers.ns('select()', 'native', 10_000)} and ${numbers.ns('select()', 'portable', 10_000)} with 10,000. The native engine is for what is linear in the number of nodes, and for \`fill\`, here a decision each.`,
  },
  algorithms: {
    title: 'Each algorithm',
    about: () =>
      'Picks by `select()` at three sizes. `random()`, `roundRobin()`, `spareCapacity()` and weights much alike come off blocks; those that go by requests in flight have to look at each pick. Uneven weights: one node in twenty weighs 81 times as much as the others, or one nearly all. "Its length read" looks into the string that was picked, one of 10,000 by chance, as `array[random]` does: that is what the cache takes.',
  },
  keys: {
    title: 'Picks by a key',
    about: () =>
      'Of 1,000 nodes, with 4,096 keys in turn. `selectHash()` takes a key that is hashed already. The first pick after a member joined or left waits for the table; large ones are built in the background.',
  },
  arrays: {
    title: 'Picks from an array',
    about: () =>
      '`select(nodes)` in place of `nodes[random]`: the same array again, or one that was never seen before. Most of the latter is the look-up of each id. With `filter` the making of the array is in it. The module-level function goes by the usual engine.',
  },
  leases: {
    title: 'Leases',
    about: () =>
      'A pick that counts as in flight, and its release, with 64 open at a time. `adaptive()` scores up to 16 nodes at each pick and learns at each release; beyond that the pick is made natively, and costs about twice as much.',
  },
  naive: {
    title: 'The usual way',
    about: () =>
      'A balancer over shared memory without an index: all readings looked at in each pick, with `Atomics`, and by the clock; written as well as that can be. It is what idlest is to be better than.',
  },
  changes: {
    title: 'What changes cost',
    about: () =>
      'All readings of 10,000 nodes are written and published, and what the one pick after that waits. And picks while a discovery replaces 1,000 nodes a second.',
  },
  files: {
    title: 'A table in a file',
    about: () =>
      'Picks over a table in a file, which other processes share, and which another one publishes to.',
  },
  threads: {
    title: 'Several threads',
    about: (numbers) =>
      `Threads pick from one table of 1,000 nodes while another one writes and publishes every 5 ms, on ${numbers.results.machine.cores} cores.`,
  },
}

/** A topic: its heading, what it is about, and all of its cases. */
export function topicSection(topic: Exclude<Topic, 'peers'>, numbers: Lookup): string {
  const { title, about } = WORDS[topic]
  const cases = numbers.results.cases.filter((one) => one.topic === topic)
  if (cases.length === 0) return ''
  const byEngine = cases.filter(({ engine }) => engine === 'native' || engine === 'portable')
  const others = cases.filter((one) => !byEngine.includes(one))
  return [
    `## ${title}`,
    about(numbers),
    ...(byEngine.length === 0 ? [] : ['', engineTable(byEngine, numbers)]),
    ...(others.length === 0 ? [] : ['', plainTable(others, numbers)]),
  ].join('\n')
}

// A row for each thing that is done, with both engines beside each other.
function engineTable(cases: readonly CaseResult[], numbers: Lookup): string {
  const keys = [...new Set(cases.map(({ name, nodes, unit }) => JSON.stringify([name, nodes, unit])))]
  return table(
    ['', 'nodes', 'native', 'to the floor', 'portable', 'to the floor', 'wanted'],
    keys.map((key) => {
      const [name, nodes, unit] = JSON.parse(key) as [string, number, string]
      const native = numbers.find(name, 'native', nodes)
      const portable = numbers.find(name, 'portable', nodes)
      return [
        nameCell(name, unit),
        nodesCell(nodes),
        time(native),
        native === undefined ? NONE : numbers.ratio(native),
        time(portable),
        portable === undefined ? NONE : numbers.ratio(portable),
        numbers.atMost(name, 'native', nodes) || numbers.atMost(name, 'portable', nodes),
      ]
    }),
  )
}

function plainTable(cases: readonly CaseResult[], numbers: Lookup): string {
  return table(
    ['', 'nodes', 'time', 'to the floor', 'wanted'],
    cases.map((one) => [
      nameCell(one.engine === 'C++' ? `${one.name}, C++` : one.name, one.unit),
      nodesCell(one.nodes),
      time(one),
      numbers.ratio(one),
      numbers.atMost(one.name, one.engine, one.nodes),
    ]),
  )
}

const OFTEN = ['pick', 'call', 'turn']

function nameCell(name: string, unit: string): string {
  return OFTEN.includes(unit) ? name : `${name}, a ${unit}`
}

function nodesCell(nodes: number): string {
  return nodes === 0 ? '' : count(nodes)
}

/** Units, and the times from which on they are used, ns. */
const UNITS_OF_TIME = [
  { name: 'ms', ns: 1e6, from: 1e6 },
  { name: 'µs', ns: 1e3, from: 1e4 },
]
const NANOSECONDS = { name: 'ns', ns: 1 }

/** Median and spread in the unit that suits it. */
export function time(result: CaseResult | undefined): string {
  if (result === undefined) return NONE
  const { median, p10, p90 } = result.ns
  const { name, ns } = UNITS_OF_TIME.find(({ from }) => median >= from) ?? NANOSECONDS
  return `${digits(median / ns)} ${name} (${digits(p10 / ns)}-${digits(p90 / ns)})`
}
