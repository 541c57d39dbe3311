import { setTimeout as delay } from 'node:timers/promises'
import type { eventDiscovery, NodeEvent } from '../../../../dist/index.js'
import type { Balance } from '../words.js'
import { noneMade, type Part } from './part.js'
import { until } from './until.js'

/** Between two changes of the members, ms. */
const PAUSE = 40
/** The share of them in which a node goes, or comes back, that does answer. */
const ANSWERING = 0.1

/** Nodes that come and go by events, 25 times a second; most of them answer nobody. */
export class Membership implements Part {
  readonly made = noneMade()
  readonly #agents: readonly string[]
  readonly #strangers = Array.from({ length: 16 }, (_, i) => `127.0.1.${i + 1}:9`)
  readonly #known: Set<string>
  readonly #out: string[] = []
  #discovery: ReturnType<typeof eventDiscovery<string>> | undefined
  #events = 0
  #ended = false

  constructor(agents: readonly string[]) {
    this.#agents = agents
    this.#known = new Set(agents)
  }

  /** The discovery that reads the events. */
  set discovery(discovery: ReturnType<typeof eventDiscovery<string>>) {
    this.#discovery = discovery
  }

  async *events(): AsyncGenerator<NodeEvent<string>> {
    this.#events++
    yield [...this.#known]
    while (!this.#ended) {
      await delay(PAUSE)
      this.#events++
      yield this.#change()
    }
  }

  async settle(): Promise<void> {
    this.#ended = true
    await delay(2 * PAUSE)
    await until(() => this.#discovery?.stats().looks === this.#events)
  }

  async close(): Promise<void> {
    await this.#discovery?.close()
  }

  balances(): Balance[] {
    const stats = this.#discovery?.stats()
    if (stats === undefined) return []
    const { looks, nodes, added, removed } = stats
    return [
      { what: 'changes of members: events', counted: looks, made: this.#events },
      { what: 'changes of members: nodes in the end', counted: nodes, made: this.#known.size },
      { what: 'changes of members: nodes added and not removed', counted: added - removed, made: nodes },
    ]
  }

  #change(): NodeEvent<string> {
    const change = { add: [] as string[], remove: [] as string[] }
    this.#turnOver(oneOf(this.#strangers), change)
    if (Math.random() < ANSWERING) {
      const back = this.#out.shift()
      const node = back ?? oneOf(this.#agents)
      if (back === undefined) this.#out.push(node)
      this.#turnOver(node, change)
    }
    return change
  }

  #turnOver(node: string, { add, remove }: { add: string[]; remove: string[] }): void {
    if (this.#known.delete(node)) remove.push(node)
    else {
      this.#known.add(node)
      add.push(node)
    }
  }
}

function oneOf<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)] as T
}
