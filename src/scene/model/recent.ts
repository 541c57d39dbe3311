import type { ServerView } from '../../simulation/watcher.js'

/** Time between two looks at the servers, ms. */
export const TICK = 100
const TICKS_A_SECOND = 10

/** What a server did over some time. */
export interface Done {
  /** How long that was, ms. */
  readonly elapsed: number
  /** Time spent serving, ms. */
  readonly serving: number
  /** The same, with its background work, ms. */
  readonly busy: number
  /** Requests sent there. */
  readonly sent: number
}

interface Look {
  readonly time: number
  readonly serving: number
  readonly busy: number
  readonly sent: number
}

/** What one server did lately. */
export class Recent {
  // One a tick, the last eleven: a second lies between the first and the last of them.
  readonly #looks: Look[] = []

  /** Takes in how the server is, and how many requests it was sent since the start; once a tick. */
  look(time: number, { servingTotal, busyTotal }: ServerView, sent: number): void {
    this.#looks.push({ time, serving: servingTotal, busy: busyTotal, sent })
    if (this.#looks.length > TICKS_A_SECOND + 1) this.#looks.shift()
  }

  /** What it did in the second up to a time, ms: that of the last look, or up to a tick later. */
  upTo(time: number, { servingTotal, busyTotal }: ServerView, sent: number): Done {
    const first = this.#looks[0]
    return {
      elapsed: time - (first?.time ?? 0),
      serving: servingTotal - (first?.serving ?? 0),
      busy: busyTotal - (first?.busy ?? 0),
      sent: sent - (first?.sent ?? 0),
    }
  }
}
