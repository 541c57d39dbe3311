import { isYes } from '../../rejections.js'
import type { Report } from '../../report.js'
import { HEADER_FORMS } from '../../reports/orca-headers.js'
import { reportHeader } from '../report-header.js'
import { earlyExchange, watchExchanges } from './early.js'
import { type Exchange, type RequestLike, type ResponseLike, SeenExchange } from './exchange.js'
import {
  type CheckedMiddlewareOptions,
  checkMiddlewareOptions,
  checkSource,
  type LoadSource,
  type MiddlewareOptions,
} from './options.js'
import { WrittenReport } from './written-report.js'

/** What all kinds of middleware do: count each request, and send a report along with its response where it is to. */
export class Serving {
  readonly #source: LoadSource
  readonly #options: CheckedMiddlewareOptions
  /** By what requests ask for. */
  readonly #texts: ReadonlyMap<string, WrittenReport<string>>
  /** For those that don't ask. */
  readonly #unasked: WrittenReport<string> | undefined
  readonly #early: boolean

  /**
   * @param early whether node:http is to tell of requests before a framework has them, which pays where that makes whatever
   * is done with them slow
   * @throws OptionError
   */
  constructor(agent: LoadSource, options: MiddlewareOptions = {}, early = false) {
    this.#source = checkSource(agent)
    this.#options = checkMiddlewareOptions(options)
    const { when, form, reuse } = this.#options
    this.#texts = new Map(
      HEADER_FORMS.map((name) => {
        const write = (report: Report) => reportHeader(report, name)
        return [name, new WrittenReport(agent, { name, write }, reuse)]
      }),
    )
    this.#unasked = when === 'asked' ? undefined : this.#texts.get(form)
    this.#early = early
    if (early) watchExchanges(when !== 'asked')
    agent.traffic.open()
  }

  /** To be called for each request before anything else is done with it. */
  begin(request: RequestLike, response: ResponseLike): void {
    const { skip, when } = this.#options
    if (skip !== undefined && isYes(skip(request))) return
    const early = this.#early ? earlyExchange(request, response) : undefined
    const exchange = early ?? new SeenExchange(request, response)
    exchange.count(this.#source.traffic.begin())
    if (typeof when === 'function' && !isYes(when(request))) return
    const text = this.#textFor(exchange)
    if (text !== undefined) exchange.setLast(text)
  }

  #textFor({ asked }: Exchange): WrittenReport<string> | undefined {
    if (asked === undefined) return this.#unasked
    return this.#texts.get(asked) ?? this.#texts.get(asked.trim().toUpperCase()) ?? this.#unasked
  }
}
