import type { Report } from '../../report.js'
import { FORMAT_HEADER, HEADER_FORMS, REPORT_HEADER } from '../../reports/orca-headers.js'
import { reportHeader } from '../report-header.js'
import { endWith, type RequestLike, type ResponseLike, rawHeader, setLast } from './exchange.js'
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

  /** @throws OptionError */
  constructor(agent: LoadSource, options: MiddlewareOptions = {}) {
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
    agent.traffic.open()
  }

  /** To be called for each request before anything else is done with it. */
  begin(request: RequestLike, response: ResponseLike): void {
    const { skip, when } = this.#options
    if (skip?.(request)) return
    endWith(response, request, this.#source.traffic.begin())
    if (typeof when === 'function' && !when(request)) return
    const text = this.#textFor(request)
    if (text !== undefined) setLast(response, REPORT_HEADER, text)
  }

  #textFor(request: RequestLike): WrittenReport<string> | undefined {
    const asked = rawHeader(request, FORMAT_HEADER)
    if (asked === undefined) return this.#unasked
    return this.#texts.get(asked) ?? this.#texts.get(asked.trim().toUpperCase()) ?? this.#unasked
  }
}
