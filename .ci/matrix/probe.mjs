// Run by each runtime: says which it is, whether it loads the addon, and what it picks with by default.
import { processBinding } from '../../dist/engine/binding.js'
import { chooseEngine } from '../../dist/engine/load.js'

const binding = processBinding()
process.removeAllListeners('warning')
const version = process.versions.bun ?? process.versions.deno ?? process.versions.node
const addon = binding.kind === 'loaded' ? 'loads' : binding.error.message
console.log(JSON.stringify({ version, addon, engine: chooseEngine().name }))
