import type { Clock } from '../clock.js'
import type { Answer } from './answer.js'
import { type Member, Round } from './round.js'

/** How single members are asked. */
export interface SinglesOptions {
  readonly clock: Clock
  /** As for a round. */
  readonly lastCall?: ((run: () => void) => void) | undefined
}

/** Asks single members, each in a round of its own. */
export class Singles<M extends Member> {
  readonly #options: SinglesOptions
  readonly #rounds = new Map<M, Round<M>>()
  #closed = false

  constructor(options: SinglesOptions) {
    this.#options = options
  }

  /**
   * Asks one; not again before this has resolved, which it does by the time-out, and when the member is dropped or all
   * is closed. Never rejects.
   */
  async ask(member: M, timeout: number): Promise<Answer> {
    let answered: Answer | undefined
    const round = new Round([member], {
      ...this.#options,
      timeout,
      store: (_, answer) => {
        answered = answer
        return 'stored'
      },
      onLate: () => {},
      isOver: () => this.#closed,
    })
    this.#rounds.set(member, round)
    const { failed, heard } = await round.done
    this.#rounds.delete(member)
    if (heard > 0) return { kind: 'heard' }
    return answered ?? failed[0] ?? { kind: 'exit', reason: 'the node left' }
  }

  /** Gives up on a member that left. */
  drop(member: M): void {
    this.#rounds.get(member)?.drop(member)
  }

  close(): void {
    this.#closed = true
    for (const round of this.#rounds.values()) round.abort('the poller was closed')
  }
}
