import { subscribe } from 'node:diagnostics_channel'
import type { BalancerStats, PollEvent, PollerCounters, RemoteErrorEvent } from '../../../../dist/index.js'
import type { Balance } from '../words.js'

/** What the channels tell of one balancer, to be compared with what it counts itself. */
export class Heard {
  readonly #name: string
  readonly #heard = {
    begun: 0,
    ended: 0,
    aborted: 0,
    asked: 0,
    stored: 0,
    failed: 0,
    wrong: 0,
    ejected: 0,
    returned: 0,
  }

  constructor(name: string) {
    this.#name = name
    const heard = this.#heard
    this.#listen<PollEvent>('tracing:idlest:poll:start', () => heard.begun++)
    this.#listen<PollEvent>('tracing:idlest:poll:error', () => heard.aborted++)
    this.#listen<PollEvent>('tracing:idlest:poll:end', ({ asked = 0, stored = 0, failed = 0 }) => {
      heard.ended++
      heard.asked += asked
      heard.stored += stored
      heard.failed += failed
    })
    this.#listen<RemoteErrorEvent>('idlest:poll:remote-error', () => heard.wrong++)
    this.#listen('idlest:member:ejected', () => heard.ejected++)
    this.#listen('idlest:member:returned', () => heard.returned++)
  }

  balances({ health, poll }: BalancerStats): Balance[] {
    const heard = this.#heard
    return [
      { what: 'ejections', counted: heard.ejected, made: health.ejections },
      { what: 'returns', counted: heard.returned, made: health.returned },
      ...(poll === undefined ? [] : this.#polls(poll)),
    ].map((balance) => ({ ...balance, what: `${this.#name}: ${balance.what}` }))
  }

  #polls(poll: PollerCounters): Balance[] {
    const heard = this.#heard
    const { asked, stored, older, left, heard: well, empty, exit, error, pushed } = poll
    return [
      { what: 'poll cycles ended', counted: heard.ended, made: heard.begun },
      { what: 'poll cycles counted', counted: poll.cycles + heard.aborted, made: heard.ended },
      { what: 'polls told', counted: heard.asked, made: asked },
      {
        what: 'polls answered or failed',
        counted: stored + older + left + well + empty + exit + error,
        made: asked,
      },
      { what: 'polls stored, told', counted: heard.stored, made: stored },
      { what: 'polls failed, told', counted: heard.failed, made: exit + error },
      // Of what is wrong in what is told unasked, one event stands for several.
      {
        what: 'polls failed, told one by one',
        counted: heard.wrong,
        made: exit + error + pushed.bad,
        slack: pushed.bad,
      },
    ]
  }

  #listen<E extends { readonly balancer: string }>(channel: string, take: (event: E) => void): void {
    subscribe(channel, (event) => {
      if ((event as E).balancer === this.#name) take(event as E)
    })
  }
}
