import type {
  DiscoveryCounters,
  FoundNode,
  NodeFollower,
  NodeSource,
} from '../../dist/balancer/node-source.js'

/** A node as a source finds it. */
export function found(id: string, tier = 0, part = 1): FoundNode<string> {
  return { node: id, id, tier, part }
}

const COUNTERS: DiscoveryCounters = {
  nodes: 0,
  looks: 0,
  changes: 0,
  added: 0,
  removed: 0,
  problems: { empty: 0, notFound: 0, timeout: 0, failed: 0, invalid: 0 },
  asked: 0,
}

/** A source that finds what the test says. */
export class HandSource implements NodeSource<string> {
  nodes: readonly string[] = []
  /** How many times a node was said to fail. */
  failures = 0
  readonly followers = new Set<NodeFollower<string>>()

  follow(follower: NodeFollower<string>) {
    this.followers.add(follower)
    return {
      failing: () => {
        this.failures++
      },
      counters: () => COUNTERS,
      end: () => {
        this.followers.delete(follower)
      },
    }
  }

  find(...nodes: readonly (string | FoundNode<string>)[]): void {
    const list = nodes.map((node) => (typeof node === 'string' ? found(node) : node))
    this.nodes = list.map(({ id }) => id)
    for (const follower of this.followers) follower.take(list)
  }
}

/** Waits until a discovery has found what is wanted. */
export async function untilFound<N>(
  discovery: AsyncIterable<readonly N[]>,
  isWanted: (nodes: readonly N[]) => boolean,
): Promise<void> {
  for await (const nodes of discovery) if (isWanted(nodes)) return
}
