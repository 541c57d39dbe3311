import { createRequire } from 'node:module'
import { type BenchCase, type CaseFamily, consume, UNITS } from '../case.js'
import { binding } from '../engines.js'
import { KeyTurn } from '../keys.js'
import { ownLoop } from '../own-loop.js'

const require = createRequire(import.meta.url)

/** The C++ addon's one function, or why there is none. */
function cppFloor(): (() => number) | string {
  try {
    const addon: unknown = require('../floor/build/Release/floor.node')
    return (addon as { one: () => number }).one
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'MODULE_NOT_FOUND' ? 'bench/floor is not built' : String(error)
  }
}

// Two loops of one text, not one function for both: the target of a call that never changes is a constant to the
// compiler, and this is to be the cheapest call that there is.
function sampleCpp(one: () => number): () => number {
  return () => {
    let sum = 0
    const start = performance.now()
    for (let i = 0; i < UNITS; i++) sum += one()
    const end = performance.now()
    consume(sum)
    return (end - start) / UNITS
  }
}

function sampleNapi(one: () => number): () => number {
  return () => {
    let sum = 0
    const start = performance.now()
    for (let i = 0; i < UNITS; i++) sum += one()
    const end = performance.now()
    consume(sum)
    return (end - start) / UNITS
  }
}

/** An empty call: by the addon's language, C++ or Rust. */
export const FLOOR = 'floor'

/** The loop that picks are measured in, around a function that does nothing: what is in every figure. */
const EMPTY_LOOP = 'an empty loop'

/** The case of a call by napi-rs that takes an 11-character string in: the floor of picks by a key. */
export const STRING_FLOOR = 'floor, takes an 11-character string'

/** The same with an unsigned 32-bit number, for keys that are hashed already. */
const NUMBER_FLOOR = 'floor, takes a number'

/** Takes one sample of the floor that the others are compared with, ms a call. Undefined without the addon. */
export const sampleFloor: (() => number) | undefined =
  binding === undefined ? undefined : sampleNapi(binding.abi)

/** What a call through Node-API costs that does nothing: the floor under all that crosses into native code. */
export function floorCases(note: (line: string) => void): CaseFamily {
  const nothing = (): undefined => undefined
  const cases: BenchCase[] = [
    { name: EMPTY_LOOP, engine: '-', nodes: 0, unit: 'turn', iterations: 40, sample: ownLoop(nothing) },
  ]
  const shape = { name: FLOOR, nodes: 0, unit: 'call', iterations: 40 } as const
  const cpp = cppFloor()
  if (typeof cpp === 'string') note(`the floor in C++ is left out: ${cpp}`)
  else cases.push({ ...shape, engine: 'C++', sample: sampleCpp(cpp) })
  if (sampleFloor !== undefined) cases.push({ ...shape, engine: 'native', sample: sampleFloor })
  if (binding !== undefined) {
    const { takeString, takeNumber } = binding
    const keys = new KeyTurn()
    let number = 0
    cases.push(
      { ...shape, name: STRING_FLOOR, engine: 'native', sample: ownLoop(() => takeString(keys.next())) },
      { ...shape, name: NUMBER_FLOOR, engine: 'native', sample: ownLoop(() => takeNumber(number++)) },
    )
  }
  return { topic: 'floor', cases }
}
