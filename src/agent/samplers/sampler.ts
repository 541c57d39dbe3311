import * as v from 'valibot'

/** What a sampler gives: percent, or undefined where it has no value yet, such as at the first sample of a delta. */
export type Sampled = number | undefined

/**
 * Tells how busy this server is: percent, 0-100, at once or by a promise. Above 100 counts as 100; undefined means
 * that there is no value yet, and nothing is published.
 */
export type Sampler = (() => Sampled | Promise<Sampled>) | { sample(): Sampled | Promise<Sampled> }

/** A {@link Sampler} that has its value at once, as idlest's own ones have. */
export interface SyncSampler {
  /** Percent, 0-100; undefined where there is no value yet. */
  sample(): Sampled
}

/** Checks an option that is a {@link Sampler}, for the schemas of src/options.ts. */
export function samplerOption() {
  return v.custom<Sampler>(
    (value) =>
      typeof value === 'function' ||
      (typeof value === 'object' &&
        value !== null &&
        'sample' in value &&
        typeof value.sample === 'function'),
    'a function that returns percent, or an object with such a function called sample',
  )
}
