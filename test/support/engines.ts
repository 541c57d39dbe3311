import { processBinding } from '../../dist/engine/binding.js'

/** The engines that this machine has: native is missing where there is no cargo. */
export const engines: readonly ('native' | 'portable')[] =
  processBinding().kind === 'loaded' ? ['native', 'portable'] : ['portable']
