import { Generator } from '../engine/portable/generator.js'
import { type Seed, streamOf, toSeed } from '../seed.js'
import type { FullScene } from './scene.js'

// Streams of their own, so that what is drawn for one thing never shifts another.
const ARRIVAL_STREAM = 0x61727276
const SERVICE_STREAM = 0x73657276
const BALANCER_STREAM = 0x62616c61

/** The seed of one of several streams of a simulation. */
export function streamSeed(seed: number, stream: number): Seed {
  return streamOf(toSeed(seed), stream)
}

/** Draws from the exponential distribution of mean 1, by its inverse: -ln(1 - u). */
export function exponential(generator: Generator): number {
  // 1 - u of a 32-bit u in [0, 1) is never 0.
  return -Math.log(1 - generator.next() / 2 ** 32)
}

/**
 * The requests of a scene, one after the other: when each arrives, how much work it is, which balancer it comes to.
 * Nothing but scene and seed decides them, so that policies are compared on the very same requests.
 */
export class Workload {
  /** When the request arrives, ms. */
  time = 0
  /** Its service time on a core of speed 1, ms. */
  work = 0
  balancer = 0
  /** Requests so far. */
  count = 0
  readonly total: number
  readonly #scene: FullScene
  readonly #arrivals: Generator
  readonly #services: Generator
  readonly #balancers: Generator
  readonly #digest = new Digest()

  constructor(scene: FullScene, seed: number) {
    const { arrivals, requests } = scene
    this.total = arrivals.kind === 'replay' ? Math.min(requests, arrivals.times.length) : requests
    this.#scene = scene
    this.#arrivals = new Generator(streamSeed(seed, ARRIVAL_STREAM))
    this.#services = new Generator(streamSeed(seed, SERVICE_STREAM))
    this.#balancers = new Generator(streamSeed(seed, BALANCER_STREAM))
  }

  /** Goes on to the next request; false where there is none. */
  next(): boolean {
    if (this.count === this.total) return false
    const { arrivals, service, balancers } = this.#scene
    if (arrivals.kind === 'poisson') this.time += (exponential(this.#arrivals) * 1000) / arrivals.rate
    else this.time = Math.max(this.time, arrivals.times[this.count] as number)
    if (service.kind === 'exponential') this.work = exponential(this.#services) * service.mean
    else this.work = service.times[this.count % service.times.length] as number
    this.balancer = balancers === 1 ? 0 : this.#balancers.below(balancers)
    this.count++
    this.#digest.add(this.time)
    this.#digest.add(this.work)
    this.#digest.add(this.balancer)
    return true
  }

  /** A fingerprint of all requests so far: 16 hexadecimal digits. */
  digest(): string {
    return this.#digest.toString()
  }
}

/** Two multiplicative 32-bit hashes over the bits of numbers; for comparing, not for security. */
class Digest {
  readonly #number = new Float64Array(1)
  readonly #words = new Uint32Array(this.#number.buffer)
  #a = 0x811c9dc5
  #b = 0x9e3779b9

  add(value: number): void {
    this.#number[0] = value
    const low = this.#words[0] as number
    const high = this.#words[1] as number
    this.#a = Math.imul(Math.imul(this.#a ^ low, 0x01000193) ^ high, 0x01000193)
    const mixed = Math.imul(this.#b ^ high, 0x85ebca6b)
    this.#b = Math.imul(mixed ^ (mixed >>> 13) ^ low, 0xc2b2ae35)
  }

  toString(): string {
    return [this.#a, this.#b].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
  }
}
