import { JOBS } from '../compare/jobs.js'
import { count } from '../numbers.js'
import type { Lookup } from './lookup.js'
import { table } from './markdown.js'
import { time } from './topics.js'

const ENGINES = ['native', 'portable', '-'] as const
const SIZES = [8, 1_000]

/** What others do, beside what of idlest does the same. */
export function peersSection(numbers: Lookup): string {
  const { peers } = numbers.results.versions
  const named = (name: string) => {
    const peer = Object.keys(peers).find((one) => name.startsWith(`${one},`))
    return peer === undefined ? name : name.replace(peer, `${peer} ${peers[peer]}`)
  }
  const rowsOf = (names: readonly string[], whose: string) =>
    names.flatMap((name) =>
      ENGINES.flatMap((engine) => {
        const found = SIZES.map((nodes) => numbers.find(name, engine, nodes))
        if (found.every((one) => one === undefined)) return []
        const who = engine === '-' ? named(name) : `${name}, ${engine}`
        return [[whose, who, ...found.map((one) => (one === undefined ? '' : time(one)))]]
      }),
    )
  return [
    '## Beside other packages',
    'In the same process, in the same rounds, a loop each. What is compared does the same job, not the same work: a picker of',
    'grpc-js gives an object made for the call, load-balancers an index, and idlest knows how busy nodes are. hashring',
    'remembers the last 5,000 keys, so there are two rows of it. Pickers of `idlest_…` are measured with the begin and end of the call',
    'that they count; those of grpc-js have nothing to hear of it. `npm run bench -- --compare` runs these alone.',
    ...JOBS.flatMap(({ job, ours, theirs }) => [
      '',
      table(
        ['', job, ...SIZES.map((nodes) => `${count(nodes)} nodes`)],
        [...rowsOf(ours, 'idlest'), ...rowsOf(theirs, '')],
        2,
      ),
    ]),
  ].join('\n')
}
