import type { Entry } from '../table/table.js'
import type { Answer } from './answer.js'
import type { ProbeAsker } from './probe-asker.js'
import type { LocalTarget, Targets } from './targets.js'
import { tellsUnasked } from './transports/kinds.js'

/** Asks single nodes, by the targets that they were resolved to. */
export interface TargetProbes {
  /** As for whoever probes. */
  setMembers(entries: readonly Entry[]): void
  ask(entry: Entry, target: LocalTarget, settle: (answer: Answer) => void): void
  close(): void
}

/** Probes nodes by whatever transport each of them has. */
export class Probes implements ProbeAsker {
  readonly #targets: Targets
  readonly #local: TargetProbes
  readonly #remote: TargetProbes | undefined

  /** @param remote asks what can cross threads; where there is none, `local` does */
  constructor(targets: Targets, local: TargetProbes, remote: TargetProbes | undefined) {
    this.#targets = targets
    this.#local = local
    this.#remote = remote
  }

  setMembers(entries: readonly Entry[]): void {
    this.#local.setMembers(entries)
    this.#remote?.setMembers(entries)
  }

  ask(entry: Entry, settle: (answer: Answer) => void): void {
    const target = this.#targets.of(entry)
    if (target.kind === 'none') {
      settle({ kind: 'error', reason: target.reason })
      return
    }
    // What it tells comes by the poller's stream, and a second one would tell the same.
    if (tellsUnasked(target.kind)) {
      settle({ kind: 'heard' })
      return
    }
    const probes = target.kind === 'custom' ? this.#local : (this.#remote ?? this.#local)
    const { slot, generation } = entry
    probes.ask(entry, { ...target, slot, generation }, settle)
  }

  close(): void {
    this.#local.close()
    this.#remote?.close()
  }
}
