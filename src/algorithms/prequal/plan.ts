import { FACT_NEXT_EXPIRY, type MemberArrays, type View } from '../../engine/engine.js'
import { OUT } from '../../engine/portable/band.js'
import type { Generator } from '../../engine/portable/generator.js'
import { type Dice, type Plan, planUniform } from '../../engine/portable/plan.js'
import type { TableMemory } from '../../table/memory.js'
import type { Kept } from '../definition.js'
import type { PrequalAlgorithm } from './options.js'
import { ProbePool } from './probe-pool.js'

/** Draws by the entries of a pool; with equal chances where that has too few. */
export class ProbedPlan implements Plan {
  readonly band: Uint32Array
  readonly length: number
  readonly #raw: Float64Array
  readonly #pool: ProbePool

  /** @param raw `OUT` for those that may not be picked */
  constructor(band: Uint32Array, length: number, raw: Float64Array, pool: ProbePool) {
    this.band = band
    this.length = length
    this.#raw = raw
    this.#pool = pool
  }

  draw({ generator }: Dice): number {
    const member = this.#pool.pick(this.#raw, OUT)
    return member >= 0 ? member : (this.band[generator.below(this.length)] as number)
  }

  fill(into: Uint32Array, dice: Dice): void {
    for (let i = 0; i < into.length; i++) into[i] = this.draw(dice)
  }

  share(): number {
    return 1 / this.length
  }
}

/** Prequal's pool, as a core keeps it. */
export class KeptProbes implements Kept {
  readonly #memory: TableMemory
  readonly #pool: ProbePool

  constructor(memory: TableMemory, algorithm: PrequalAlgorithm, generator: Generator) {
    this.#memory = memory
    this.#pool = new ProbePool(algorithm, generator)
  }

  get atRandom(): number {
    return this.#pool.atRandom
  }

  setMembers(members: MemberArrays): void {
    this.#pool.setMembers(members)
  }

  refresh(now: number, _raw: Float64Array, { facts }: View): void {
    facts[FACT_NEXT_EXPIRY] = this.#pool.refresh(this.#memory, now)
  }

  plan(raw: Float64Array): Plan {
    const { band, length } = planUniform(raw, raw.length)
    return new ProbedPlan(band, length, raw, this.#pool)
  }

  probed(member: number, inFlight: number, latency: number, time: number): number {
    this.#pool.probed(member, inFlight, latency, time)
    return this.#pool.nextExpiry()
  }
}
