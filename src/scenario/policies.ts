import * as v from 'valibot'
import { type Algorithm, ENGINE_KINDS, hasTtl, makeOfKind } from '../algorithms/registry.js'
import { OptionError } from '../errors.js'
import { hasFields } from '../fields.js'
import { flag, oneOf, options, text } from '../options.js'
import { type PolicySetting, policies } from '../simulation/policies.js'
import { type Policy, readingTtl, shipped } from '../simulation/policy.js'

type Options = Readonly<Record<string, unknown>>

const LONGEST_LABEL = 60

/** Names of the policies that need no options. */
export const policyNames: readonly string[] = [...policies.keys()]

/** One policy of a scenario: named, or an algorithm with options of its own. */
export interface PolicySpec {
  readonly label: string
  /** Node ids that its weights name. */
  readonly weighted: readonly string[]
  /**
   * Makes it.
   * @param idOf ids of nodes by the names that a scenario gives them
   */
  make(setting: PolicySetting, idOf: (name: string) => string): Policy
}

/** A policy by its name. */
function namedPolicy(name: string): PolicySpec {
  const { make } = policies.get(name) ?? missing(name)
  return { label: name, weighted: [], make: (setting) => make(name, setting) }
}

function missing(name: string): never {
  throw new OptionError('policy', name, `one of ${policyNames.join(', ')}`)
}

function labelOf(algorithm: string, given: Options): string {
  const entries = Object.entries(given).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  const label = `${algorithm}(${entries.length === 0 ? '' : `{ ${entries.join(', ')} }`})`
  return label.length > LONGEST_LABEL ? `${algorithm}({ … })` : label
}

function algorithmPolicy(
  algorithm: Algorithm['kind'],
  given: Options,
  label: string,
  leases: boolean,
): PolicySpec {
  const weights = hasFields(given.weights) ? given.weights : undefined
  return {
    label,
    weighted: weights === undefined ? [] : Object.keys(weights),
    make(setting, idOf) {
      const filled = {
        ...(hasTtl(algorithm) && { ttl: readingTtl(setting) }),
        ...given,
        ...(weights !== undefined && {
          weights: Object.fromEntries(Object.entries(weights).map(([name, weight]) => [idOf(name), weight])),
        }),
      }
      return shipped(label, makeOfKind(algorithm, filled), { ...setting, leases })
    },
  }
}

const detailed = v.pipe(
  options({
    // Those that need neither keys nor a node of their own. Each checks its options by itself.
    algorithm: oneOf(ENGINE_KINDS),
    options: v.optional(v.custom<Options>(hasFields, "an object of the algorithm's options"), {}),
    name: v.optional(text()),
    leases: v.optional(flag(), true),
  }),
  v.rawTransform<
    { algorithm: Algorithm['kind']; options: Options; name?: string | undefined; leases: boolean },
    PolicySpec
  >(({ dataset, addIssue, NEVER }) => {
    const { algorithm, options: given, name, leases } = dataset.value
    try {
      makeOfKind(algorithm, given)
      return algorithmPolicy(algorithm, given, name ?? labelOf(algorithm, given), leases)
    } catch (error) {
      if (!(error instanceof OptionError)) throw error
      // The error's path begins with the algorithm's name.
      const keys = ['options', ...error.option.split('.').slice(1)]
      const path = keys.map((key) => ({
        type: 'object' as const,
        origin: 'value' as const,
        input: dataset.value as Record<string, unknown>,
        key,
        value: error.value,
      }))
      addIssue({
        message: error.expected,
        expected: error.expected,
        input: error.value,
        path: path as [(typeof path)[number], ...(typeof path)[number][]],
      })
      return NEVER
    }
  }),
)

const name = v.pipe(
  oneOf(policyNames),
  v.transform((name) => namedPolicy(name)),
)

const policy = v.lazy((value) => (hasFields(value) ? detailed : name) as v.GenericSchema<unknown, PolicySpec>)

const list = v.pipe(v.array(policy, 'a list of policies, or all'), v.minLength(1, 'at least one policy'))

const all = v.pipe(
  v.literal('all', 'a list of policies, or all'),
  v.transform(() => policyNames.map(namedPolicy)),
)

/** `policies` of a scenario. */
export const policiesSchema = v.lazy(
  (value) => (Array.isArray(value) ? list : all) as v.GenericSchema<unknown, readonly PolicySpec[]>,
)
