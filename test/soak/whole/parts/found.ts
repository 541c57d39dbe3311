import { Resolver } from 'node:dns/promises'
import { createBalancer, createTable, dnsDiscovery, maglev } from '../../../../dist/index.js'
import { DnsServer, shuffled } from '../../../discovery/dns-server.js'
import type { Balance } from '../words.js'
import { BasicLane } from './basic.js'

const ADDRESSES = Array.from({ length: 60 }, (_, i) => `10.9.0.${i + 1}`)

/** Picks by keys among nodes that DNS tells of: others at each lookup, and now and then none, or nothing that makes sense. */
export class FoundLane extends BasicLane {
  readonly #keyed: { select(options: { key: string }): unknown }
  readonly #discovery: ReturnType<typeof dnsDiscovery>
  readonly #server: DnsServer
  readonly #stop: () => void
  #turns = 0

  private constructor(server: DnsServer, stop: () => void, discovery: ReturnType<typeof dnsDiscovery>) {
    const table = createTable()
    const balancer = createBalancer({
      name: 'found',
      nodes: discovery,
      table,
      poll: false,
      algorithm: maglev({ tableSize: 4_093 }),
    })
    super(balancer, table, { picks: 0, leases: 1 })
    this.#keyed = balancer
    this.#server = server
    this.#stop = stop
    this.#discovery = discovery
  }

  static async start(): Promise<FoundLane> {
    let stop = () => {}
    const owner = {
      teardown: (end: () => void) => {
        stop = end
      },
    }
    const server = await DnsServer.start(owner, () => {
      const chance = Math.random()
      if (chance < 0.05) return { code: 'SERVFAIL' }
      if (chance < 0.1) return { garbage: true }
      if (chance < 0.15) return { records: [] }
      return { records: shuffled(ADDRESSES).slice(0, 20 + Math.floor(Math.random() * 30)), ttl: 0 }
    })
    const resolver = new Resolver({ timeout: 500, tries: 1 })
    resolver.setServers([server.address])
    const discovery = dnsDiscovery({
      name: 'found',
      hostname: 'soak.test',
      port: 80,
      family: 4,
      resolver,
      interval: 300,
      minInterval: 150,
      timeout: 1_000,
    })
    return new FoundLane(server, stop, discovery)
  }

  override turn(): void {
    super.turn()
    for (let i = 0; i < 100; i++) this.load.pick(() => this.#keyed.select({ key: `key-${this.#turns++}` }))
    // It keeps what it was asked.
    this.#server.questions.length = 0
  }

  override async close(): Promise<void> {
    await super.close()
    await this.#discovery.close()
    this.#stop()
  }

  override balances(): Balance[] {
    const { added, removed, nodes } = this.#discovery.stats()
    return [
      ...super.balances(),
      { what: 'found by DNS: nodes added and not removed', counted: added - removed, made: nodes },
    ]
  }
}
