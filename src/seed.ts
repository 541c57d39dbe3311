/** Two unsigned 32-bit numbers, low word first. */
export type Seed = readonly [number, number]

/** A seed from a user's number, or one by chance. */
export function toSeed(seed: number | undefined): Seed {
  if (seed === undefined) {
    // Node.js before 23 can be told to have none. A seed is no secret.
    const words = globalThis.crypto?.getRandomValues(new Uint32Array(2)) ?? [someWord(), someWord()]
    return [words[0] as number, words[1] as number]
  }
  return [seed >>> 0, Math.floor(seed / 2 ** 32)]
}

function someWord(): number {
  return Math.floor(Math.random() * 2 ** 32)
}

/** The seed of one of several streams: what is drawn from one then shifts no other. */
export function streamOf([low, high]: Seed, stream: number): Seed {
  return [low, (high ^ stream) >>> 0]
}
