import { type Algorithm, type Balancer, createBalancer } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'

/** A balancer with a table of its own that polls nothing. */
export function keyedBalancer(
  nodes: readonly string[],
  algorithm: Algorithm,
  engine: 'native' | 'portable',
): Balancer<string> {
  return createBalancer({ nodes, algorithm, poll: false, clock: new VirtualClock(), seed: 1, engine })
}

/** `n0`, `n1` and so on. */
export function names(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `n${i}`)
}

/** As many keys. */
export function keys(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `key-${i}`)
}

/** Whose each key is. */
export function owners(balancer: Balancer<string>, all: readonly string[]): Map<string, string> {
  return new Map(all.map((key) => [key, balancer.select({ key })]))
}

/** The keys that have another node after a change. */
export function movedKeys(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...before].filter(([key, node]) => after.get(key) !== node).map(([key]) => key)
}
