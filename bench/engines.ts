import { processBinding } from '../dist/engine/binding.js'
import type { NativeBinding } from '../dist/engine/native.js'

const result = processBinding()

/** What the addon has for the bench alone: the least that calls cost which take something. `crates/node/src/floor.rs` */
export interface Floors {
  takeString(text: string): number
  takeNumber(number: number): number
}

/** The addon, where there is one. */
export const binding: (NativeBinding & Floors) | undefined =
  result.kind === 'loaded' ? (result.binding as NativeBinding & Floors) : undefined

/** Why there is none. */
export const noBinding: string | undefined = result.kind === 'missing' ? result.error.message : undefined

/** The engines of this machine. */
export const engines: readonly ('native' | 'portable')[] =
  binding === undefined ? ['portable'] : ['native', 'portable']
