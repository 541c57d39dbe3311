import { processBinding } from '../dist/engine/load.js'
import type { NativeBinding } from '../dist/engine/native.js'

const result = processBinding()

/** The addon, where there is one. */
export const binding: NativeBinding | undefined = result.kind === 'loaded' ? result.binding : undefined

/** Why there is none. */
export const noBinding: string | undefined = result.kind === 'missing' ? result.error.message : undefined

/** The engines of this machine. */
export const engines: readonly ('native' | 'portable')[] =
  binding === undefined ? ['portable'] : ['native', 'portable']
