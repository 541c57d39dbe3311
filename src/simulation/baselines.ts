import { Generator } from '../engine/portable/generator.js'
import type { Dispatcher, DispatcherSetting, Policy } from './policy.js'
import { NONE } from './requests.js'
import { streamSeed } from './workload.js'

// What the API has no algorithm for is written here, as plainly as can be: to compare with, not to ship.

const START_STREAM = 0x73746172

/** Servers in turn, each balancer from a start of its own. */
export const inTurn: Policy = {
  name: 'round-robin',
  create: (setting) => new PlainDispatcher(setting, (_, turn, count) => turn % count),
}

/** A server at random, by a generator of the simulation: `random()` of the API must do as well. */
export const atRandom: Policy = {
  name: 'plain-random',
  create: (setting) => new PlainDispatcher(setting, (generator, _, count) => generator.below(count)),
}

type Pick = (generator: Generator, turn: number, count: number) => number

class PlainDispatcher implements Dispatcher {
  readonly engine = undefined
  readonly #present: number[]
  readonly #generator: Generator
  readonly #pick: Pick
  #turn: number

  constructor({ present, seed }: DispatcherSetting, pick: Pick) {
    this.#present = [...present]
    this.#generator = new Generator(streamSeed(seed, START_STREAM))
    this.#turn = this.#generator.below(Math.max(1, present.length))
    this.#pick = pick
  }

  begin(): number {
    const count = this.#present.length
    return count === 0 ? NONE : (this.#present[this.#pick(this.#generator, this.#turn++, count)] as number)
  }

  join(server: number): void {
    if (!this.#present.includes(server)) this.#present.push(server)
  }

  leave(server: number): void {
    const at = this.#present.indexOf(server)
    if (at >= 0) this.#present.splice(at, 1)
  }

  end(): void {}
  report(): void {}
  close(): void {}
}
