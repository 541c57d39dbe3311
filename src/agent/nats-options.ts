import * as v from 'valibot'
import { OptionError, reasonOf } from '../errors.js'
import {
  NATS_CLIENT,
  type NatsOptions,
  type NatsSettings,
  natsEntries,
  natsSettings,
} from '../nats/settings.js'
import { subjectOf } from '../nats/subject.js'
import { needPackage } from '../optional-package.js'
import { milliseconds, number, options, text } from '../options.js'

/** Where and how often an agent publishes its report. */
export interface NatsPublisherOptions extends NatsOptions {
  /** By what id balancers know this node, such as `10.0.0.1:8080`. */
  readonly id: string
  /** From one publication to the next, ms. Default 1,000. */
  readonly interval?: number | undefined
  /** By how much of the interval each wait may be shorter, by chance, 0-1: so that a fleet spreads out. Default 0.1. */
  readonly jitter?: number | undefined
}

/** Checked options: plain data. */
export interface NatsPublisherSettings extends NatsSettings {
  /** The node's own. */
  readonly publishTo: string
  readonly interval: number
  readonly jitter: number
}

/** The schema of the agent's option `nats`. */
export const natsPublisherSchema = options({
  ...natsEntries,
  id: text('the id by which balancers know this node'),
  interval: v.optional(milliseconds(1), 1_000),
  jitter: v.optional(number(0, 1), 0.1),
})

/**
 * Makes settings of options that their schema has passed.
 * @throws OptionError where they contradict each other, no subject can have the id, or the client is not installed
 */
export function natsPublisherSettings(
  checked: v.InferOutput<typeof natsPublisherSchema>,
): NatsPublisherSettings {
  const { id, interval, jitter } = checked
  needPackage('nats', NATS_CLIENT)
  const settings = natsSettings('nats', checked)
  try {
    return { ...settings, publishTo: subjectOf(settings.subject, id), interval, jitter }
  } catch (error) {
    throw new OptionError('nats.id', id, `another: ${reasonOf(error)}`)
  }
}
