import { LONGEST_WAIT } from '../../clock.js'
import { OptionError } from '../../errors.js'
import { hasFields } from '../../fields.js'

const DURATION = /^(\d{1,15})(?:\.(\d{1,9}))?s$/

/**
 * The fields of a policy's config, as JSON of protobuf has them: by lowerCamelCase or by the names of the proto file, where
 * null is what was left out. Unknown ones are ignored, as gRPC wants it.
 */
export class ConfigFields {
  readonly #fields: Readonly<Record<string, unknown>>

  /** Throws OptionError for anything but an object. */
  constructor(policy: string, json: unknown) {
    if (!hasFields(json)) throw new OptionError(policy, json, 'an object')
    this.#fields = json as Readonly<Record<string, unknown>>
  }

  /** A time in ms; undefined where there is none. Throws OptionError. */
  duration(name: string): number | undefined {
    const value = this.#value(name)
    if (value === undefined) return undefined
    const match = typeof value === 'string' ? DURATION.exec(value) : null
    if (match === null) throw new OptionError(name, value, 'a duration, such as "10s" or "0.5s"')
    const [, seconds = '', fraction = ''] = match
    const ms = Number(seconds) * 1e3 + Number(fraction.padEnd(9, '0')) / 1e6
    // What is longer than timers go is for ever.
    return Math.min(ms, LONGEST_WAIT)
  }

  /** Throws OptionError for anything but a number. */
  number(name: string): number | undefined {
    const value = this.#value(name)
    if (value === undefined || typeof value === 'number') return value
    throw new OptionError(name, value, 'a number')
  }

  /** Throws OptionError for anything but true or false. */
  flag(name: string): boolean | undefined {
    const value = this.#value(name)
    if (value === undefined || typeof value === 'boolean') return value
    throw new OptionError(name, value, 'true or false')
  }

  /** Throws OptionError for anything but an array of strings. */
  texts(name: string): readonly string[] | undefined {
    const value = this.#value(name)
    if (value === undefined) return undefined
    if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return value
    throw new OptionError(name, value, 'an array of strings')
  }

  #value(name: string): unknown {
    const inProto = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return this.#fields[name] ?? this.#fields[inProto] ?? undefined
  }
}

/** Only what was given, so that defaults are those of the algorithm. */
export function given<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T
}
