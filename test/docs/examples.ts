// What each example should come to. A new one belongs here: the tests refuse those that nobody thought of.
import type { Block } from './blocks.js'
import { guides } from './examples/guides.js'
import { plugIn } from './examples/plug-in.js'
import { readme } from './examples/readme.js'
import { reference } from './examples/reference.js'
import { seeIt } from './examples/see-it.js'
import { withOthers } from './examples/with-others.js'

/** An example in TypeScript or JavaScript. */
export interface Example {
  readonly file: string
  /** A text that this example of the file has, and no other. */
  readonly has: string
  /** What is done after it, and asserted of what it has made: TypeScript in the example's own scope. */
  readonly comesTo?: string
  /** It is written for a worker thread. */
  readonly inThread?: true
  /** It goes on for ever: what it says once it does what it should. */
  readonly until?: RegExp
  /** It needs a program that not every machine has. */
  readonly needs?: 'nats-server' | 'native'
}

export const examples: readonly Example[] = [
  ...readme,
  ...guides,
  ...withOthers,
  ...reference,
  ...plugIn,
  ...seeIt,
]

/** The one example for a block, or why there is none. */
export function exampleOf({ file, text }: Block): Example | string {
  const found = examples.filter((one) => one.file === file && text.includes(one.has))
  const [only] = found
  if (only === undefined) return 'no test knows it: say in test/docs/examples.ts what it should come to'
  return found.length === 1 ? only : `is taken for several: ${found.map(({ has }) => has).join('; ')}`
}
