import type { ExecutionContext } from 'ava'
import type { Ran } from './execute.js'
import { BINDING, build } from './world.js'

/** What the programs that pick say. */
interface Picked {
  readonly engine: string
  /** Files of the addons that are loaded. */
  readonly addons: readonly string[]
  readonly picked: readonly string[]
  readonly warnings: readonly { readonly code?: string; readonly message: string }[]
}

/** What the program that polls says. */
export interface Polled {
  readonly engine: string
  readonly cpu: number
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
}

/** What a program said on its last line. */
export function said<T>({ stdout }: Ran): T {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
}

/** A program picked with the addon of this machine's package, and nothing was warned of. */
export function pickedNatively(t: ExecutionContext, ran: Ran): void {
  const { engine, addons, picked, warnings } = said<Picked>(ran)
  t.deepEqual({ engine, warnings }, { engine: 'native', warnings: [] })
  t.true(addons.some((file) => file.replaceAll('\\', '/').endsWith(`/idlest.${build}.node`)))
  for (const node of picked) t.true(['a', 'b'].includes(node))
}

/** A program picked without an addon, and was warned once, with all that one needs to know. Gives the warning. */
export function pickedPortably(t: ExecutionContext, ran: Ran): string {
  const { engine, picked, warnings } = said<Picked>(ran)
  t.is(engine, 'portable')
  for (const node of picked) t.true(['a', 'b'].includes(node))
  t.deepEqual(
    warnings.map(({ code }) => code),
    ['IDLEST_PORTABLE'],
  )
  const message = warnings[0]?.message ?? ''
  tellsOfPlaces(t, message)
  return message
}

/** A message names the platform, its C library where it has several, and the package that was looked for. */
export function tellsOfPlaces(t: ExecutionContext, message: string): void {
  const [, , libc = ''] = build.split('-')
  t.true(message.includes(`${process.platform} ${process.arch}`), message)
  if (process.platform === 'linux') t.true(message.includes(libc), message)
  t.true(message.includes(BINDING), message)
}
