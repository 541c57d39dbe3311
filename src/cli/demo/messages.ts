import type { Usage } from './governor.js'

/** What a server is told when it is started; passed as JSON. */
export interface ServerSettings {
  /** Part of one core. */
  readonly share: number
  /** Part of the share that a second job takes; 0 for none. */
  readonly secondJob: number
  /** Time between two samples of its CPU, ms. */
  readonly sampleInterval: number
  /** What its CPU is the mean over, ms. */
  readonly window: number
}

/** From a server: once, when it takes requests. */
export interface ReadyMessage {
  readonly kind: 'ready'
  readonly port: number
  /** Where its report is. */
  readonly report: string
}

/** From a server: the answer to a UsageRequest. */
export interface UsageMessage {
  readonly kind: 'usage'
  readonly usage: Usage
}

export type FromServer = ReadyMessage | UsageMessage

/** To a server. */
export interface UsageRequest {
  readonly kind: 'usage'
}
