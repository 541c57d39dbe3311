import type { FailedNode } from '../poller/answer.js'
import type { Member } from './member.js'

export interface ReachabilityOptions {
  /** Polls in a row that a member must refuse, or not answer, at least 1. */
  readonly polls: number
  readonly members: { readonly size: number; all(): Iterable<Member>; update(member: Member): void }
  /** Called after these members became unreachable, or are so no longer. */
  readonly onChange: (members: readonly Member[]) => void
}

// Polls in a row that a member refused or did not answer, and the leases that had succeeded by the last of them.
interface Row {
  readonly polls: number
  readonly succeeded: number
}

/**
 * Finds members that are unreachable: they refused polls or did not answer them, several in a row, and no lease on them has
 * succeeded since. They get little of what there is, as long as at least half of the members are reachable: else it is more likely
 * that polls do not get through than that most nodes are gone. A status, a token or a body that is wrong does not count: somebody
 * answered.
 */
export class Reachability {
  readonly #options: ReachabilityOptions
  #rows = new Map<Member, Row>()

  constructor(options: ReachabilityOptions) {
    this.#options = options
  }

  /** Takes in a round of polls. */
  polled(failed: readonly FailedNode[]): void {
    const { members, polls, onChange } = this.#options
    const silent = new Set(failed.filter(({ kind }) => kind === 'exit').map(({ node }) => node))
    const rows = new Map<Member, Row>()
    const unreachable = new Set<Member>()
    for (const member of members.all()) {
      if (!silent.has(member.id)) continue
      const row = rowOf(member, this.#rows.get(member))
      rows.set(member, row)
      if (row.polls >= polls) unreachable.add(member)
    }
    this.#rows = rows
    const isBelieved = unreachable.size * 2 <= members.size
    const changed: Member[] = []
    for (const member of members.all()) {
      const is = isBelieved && unreachable.has(member)
      if (member.unreachable === is) continue
      member.unreachable = is
      members.update(member)
      changed.push(member)
    }
    if (changed.length > 0) onChange(changed)
  }
}

function rowOf({ released, failed }: Member, before: Row | undefined): Row {
  const succeeded = released - failed
  // One that was new before this poll starts a row of its own.
  if (before === undefined || succeeded > before.succeeded) return { polls: 1, succeeded }
  return { polls: before.polls + 1, succeeded }
}
