import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { type EngineError, OptionError } from '../errors.js'
import { processBinding } from './binding.js'
import type { Engine, EngineName } from './engine.js'
import { type NativeBinding, nativeEngine } from './native.js'
import { portableEngine } from './portable/index.js'

const engines = new WeakMap<NativeBinding, Engine>()

function engineOf(binding: NativeBinding): Engine {
  let engine = engines.get(binding)
  if (engine === undefined) {
    engine = nativeEngine(binding)
    engines.set(binding, engine)
  }
  return engine
}

/**
 * The engine to pick with. `auto`: native where its addon loads, else portable, with one warning a process
 * (`IDLEST_PORTABLE`). The environment's `IDLEST_ENGINE` goes before what is wanted. Throws `EngineError` where the
 * native engine is asked for by name and can't be loaded.
 */
export function chooseEngine(wanted: EngineName | 'auto' = 'auto'): Engine {
  const forced = process.env.IDLEST_ENGINE || undefined
  const name = forced ?? wanted
  if (name === 'portable') return portableEngine
  if (name !== 'native' && name !== 'auto') {
    throw new OptionError(
      forced === undefined ? 'engine' : 'IDLEST_ENGINE',
      name,
      "'auto', 'native' or 'portable'",
    )
  }
  // A call into an addon costs three times as much in Bun, and picks in JavaScript are as fast there.
  if (name === 'auto' && process.versions.bun !== undefined) return portableEngine
  const result = processBinding()
  if (result.kind === 'loaded') return engineOf(result.binding)
  if (name === 'native') throw result.error
  warnOnce(result.error)
  return portableEngine
}

const WARNED = 'idlest:portable-warned'

// Worker threads inherit environment data, so that each does not say it again.
function warnOnce(error: EngineError): void {
  if (getEnvironmentData(WARNED) === true) return
  setEnvironmentData(WARNED, true)
  process.emitWarning(
    `idlest picks with its portable engine: ${error.message} IDLEST_ENGINE=portable silences this.`,
    {
      code: 'IDLEST_PORTABLE',
      type: 'IdlestWarning',
    },
  )
}
