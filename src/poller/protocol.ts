import type { TableSource } from '../table/table.js'
import type { Answer, Tally } from './answer.js'
import type { AskSettings } from './asked-members.js'
import type { Aside } from './sink.js'
import type { PlacedTarget } from './targets.js'

/** One probe, by its number. */
export interface WorkerProbe {
  readonly number: number
  readonly slot: number
}

/** What the polling thread is told: plain data. Pollers are numbered by the thread that they belong to. */
export type ToWorker =
  /** A poller begins, over this table. */
  | ({ readonly type: 'open'; readonly poller: number; readonly table: TableSource } & AskSettings)
  /** Members, by slot: first the removed ones go, then the added ones come. */
  | {
      readonly type: 'members'
      readonly poller: number
      readonly removed: readonly number[]
      readonly added: readonly PlacedTarget[]
    }
  /** Whatever the nodes in these slots tell next counts as new. */
  | { readonly type: 'forget'; readonly poller: number; readonly slots: readonly number[] }
  /** Ask all members; done by the deadline (time of the process's clock, ms). */
  | {
      readonly type: 'round'
      readonly poller: number
      readonly round: number
      readonly deadline: number
      /** For messages, ms. */
      readonly timeout: number
    }
  /** Ask these members, each by itself. */
  | {
      readonly type: 'probe'
      readonly poller: number
      readonly probes: readonly WorkerProbe[]
      /** For each, ms. */
      readonly timeout: number
    }
  /** The poller ended: let go of its table and its connections. */
  | { readonly type: 'close'; readonly poller: number }

/** A round has ended. */
export interface Done {
  readonly type: 'done'
  readonly poller: number
  readonly round: number
  readonly tally: Tally
}

/** Probes have settled. */
export interface Probed {
  readonly type: 'probed'
  readonly poller: number
  readonly answers: readonly { readonly number: number; readonly answer: Answer }[]
}

/** What was heard beside the answers of rounds. */
export interface AsideMessage {
  readonly type: 'aside'
  readonly poller: number
  readonly aside: Aside
}

/** A poller's members, as far as they are told, were made: what they need has been loaded. */
export interface Ready {
  readonly type: 'ready'
  readonly poller: number
}

/** Something went wrong in the thread that could not be put down to one member. The thread goes on. */
export interface Fault {
  readonly type: 'fault'
  readonly reason: string
}

/** What the polling thread says. */
export type FromWorker = Done | Probed | AsideMessage | Ready | Fault
