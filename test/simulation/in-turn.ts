import { Generator } from '../../dist/engine/portable/generator.js'
import type { Dispatcher, DispatcherSetting, Policy } from '../../dist/simulation/policy.js'
import { NONE } from '../../dist/simulation/requests.js'
import { streamSeed } from '../../dist/simulation/workload.js'

const START_STREAM = 0x73746172

/**
 * Round robin: servers in turn, each balancer from a start of its own. Written here, as plainly as can be, to compare
 * with.
 */
export function inTurn(name = 'round-robin'): Policy {
  return { name, create: (setting) => new InTurn(setting) }
}

class InTurn implements Dispatcher {
  readonly engine = undefined
  readonly #present: number[]
  #turn: number

  constructor({ present, seed }: DispatcherSetting) {
    this.#present = [...present]
    this.#turn = new Generator(streamSeed(seed, START_STREAM)).below(Math.max(1, present.length))
  }

  begin(): number {
    const present = this.#present
    return present.length === 0 ? NONE : (present[this.#turn++ % present.length] as number)
  }

  join(server: number): void {
    this.#present.push(server)
  }

  leave(server: number): void {
    this.#present.splice(this.#present.indexOf(server), 1)
  }

  end(): void {}
  report(): void {}
  close(): void {}
}
