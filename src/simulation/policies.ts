import { VARIANTS } from '../algorithms/registry.js'
import { type Policy, readingTtl, type ShippedOptions, shipped } from './policy.js'

/** What a policy may depend on. */
export interface PolicySetting extends ShippedOptions {
  /** As in the scene, ms. */
  readonly reportInterval: number
  readonly delay: number
}

interface NamedPolicy {
  /** For people, in one line. */
  readonly about: string
  readonly make: (name: string, setting: PolicySetting) => Policy
}

/** The policies that can be asked for by name. */
export const policies: ReadonlyMap<string, NamedPolicy> = new Map(
  VARIANTS.map(({ name, about, make }) => [
    name,
    { about, make: (name, setting) => shipped(name, make(readingTtl(setting)), setting) },
  ]),
)
