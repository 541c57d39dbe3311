import { type CaseFamily, consume, UNITS } from '../case.js'
import { Chance } from '../chance.js'
import { nodeIds } from '../pool.js'

const THRESHOLD = 5_000
const MISSING = 50_000
const TTL = 10_000
const CPU_MAX = 100_000

/** Readings in all: more than a branch predictor learns, where a pool of 8 would soon be known by heart. */
const READINGS = 32_768

/**
 * How balancers over shared memory pick without an index: a look at every node's reading, with `Atomics` and by the
 * clock, at every pick. Written as well as that can be: two passes over arrays that are made once, one look at the
 * clock, nothing allocated. `ages`: false leaves out ages and clock, so readings never expire.
 */
class NaiveBalancer {
  readonly #nodes: readonly string[]
  readonly #cpu: Int32Array
  readonly #times: Int32Array
  readonly #values: Int32Array
  readonly #band: Int32Array
  readonly #ages: boolean
  // Moves to other readings at each pick, as though these had just been reported.
  #offset = 0

  constructor(nodes: number, ages: boolean) {
    this.#nodes = nodeIds(nodes)
    const readings = Math.max(1, Math.floor(READINGS / nodes)) * nodes
    this.#cpu = new Int32Array(new SharedArrayBuffer(readings * 4))
    this.#times = new Int32Array(new SharedArrayBuffer(readings * 4))
    this.#values = new Int32Array(nodes)
    this.#band = new Int32Array(nodes)
    this.#ages = ages
    const chance = new Chance(nodes)
    for (let i = 0; i < readings; i++) this.#cpu[i] = chance.below(CPU_MAX + 1)
    this.refresh()
  }

  /** Makes all readings fresh. */
  refresh(): void {
    this.#times.fill(performance.now())
  }

  select(): string {
    const least = this.#ages ? this.#readFresh() : this.#read()
    const values = this.#values
    const band = this.#band
    const most = least + THRESHOLD
    let length = 0
    for (let i = 0; i < values.length; i++) if ((values[i] as number) <= most) band[length++] = i
    return this.#nodes[band[Math.floor(Math.random() * length)] as number] as string
  }

  #readFresh(): number {
    const values = this.#values
    const cpu = this.#cpu
    const times = this.#times
    const offset = this.#nextOffset()
    const oldest = performance.now() - TTL
    let least = CPU_MAX
    for (let i = 0; i < values.length; i++) {
      const value = Atomics.load(times, offset + i) >= oldest ? Atomics.load(cpu, offset + i) : MISSING
      values[i] = value
      if (value < least) least = value
    }
    return least
  }

  #read(): number {
    const values = this.#values
    const cpu = this.#cpu
    const offset = this.#nextOffset()
    let least = CPU_MAX
    for (let i = 0; i < values.length; i++) {
      const value = Atomics.load(cpu, offset + i)
      values[i] = value
      if (value < least) least = value
    }
    return least
  }

  #nextOffset(): number {
    const offset = this.#offset
    const next = offset + this.#values.length
    this.#offset = next === this.#cpu.length ? 0 : next
    return offset
  }
}

function sampleNaive(balancer: NaiveBalancer, picks: number): () => number {
  return () => {
    let sum = 0
    const start = performance.now()
    for (let i = 0; i < picks; i++) sum += balancer.select().length
    const end = performance.now()
    consume(sum)
    return (end - start) / picks
  }
}

/** The way that idlest is to be better than. */
export function naiveCases(): CaseFamily {
  return {
    topic: 'naive',
    cases: [true, false].flatMap((ages) =>
      [8, 64, 1_000, 10_000].map((nodes) => {
        const balancer = new NaiveBalancer(nodes, ages)
        const picks = Math.min(UNITS, Math.ceil(20_000 / nodes))
        return {
          name: ages ? 'naive scan' : 'naive scan, no expiry',
          engine: '-' as const,
          nodes,
          iterations: 5,
          beforeRound: () => balancer.refresh(),
          sample: sampleNaive(balancer, picks),
        }
      }),
    ),
  }
}
