import { FORMAT_HEADER, type HeaderForm, REPORT_HEADER } from '../../reports/orca-headers.js'
import { endWith, type RequestLike, type ResponseLike, setLast } from './exchange.js'
import {
  type CheckedMiddlewareOptions,
  checkMiddlewareOptions,
  checkSource,
  type LoadSource,
  type MiddlewareOptions,
} from './options.js'
import { ReportTexts } from './report-texts.js'

const FORMS: Readonly<Record<string, HeaderForm>> = { TEXT: 'TEXT', JSON: 'JSON', BIN: 'BIN' }

/** What all kinds of middleware do: count each request, and send a report along with its response where it is to. */
export class Serving {
  readonly #source: LoadSource
  readonly #options: CheckedMiddlewareOptions
  readonly #texts: ReportTexts
  readonly #form: HeaderForm | undefined

  /** @throws OptionError */
  constructor(agent: LoadSource, options: MiddlewareOptions | undefined) {
    this.#source = checkSource(agent)
    this.#options = checkMiddlewareOptions(options ?? {})
    this.#texts = new ReportTexts(agent, this.#options.reuse)
    this.#form = this.#options.when === 'always' ? this.#options.form : undefined
    agent.traffic.open()
  }

  /** To be called for each request before anything else is done with it. */
  begin(request: RequestLike, response: ResponseLike): void {
    if (this.#options.skip?.(request)) return
    endWith(response, request, this.#source.traffic.begin())
    const form = this.#formFor(request)
    if (form !== undefined) setLast(response, REPORT_HEADER, () => this.#texts.take(form))
  }

  #formFor(request: RequestLike): HeaderForm | undefined {
    const asked = request.headers[FORMAT_HEADER]
    if (typeof asked !== 'string') return this.#form
    return FORMS[asked] ?? FORMS[asked.toUpperCase()] ?? this.#form
  }
}
