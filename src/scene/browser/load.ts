import type { Engine } from '../../engine/engine.js'
import { portableEngine } from '../../engine/portable/index.js'

/** Stands in for `engine/load.js`: a browser loads no addon, so that the engine is the portable one whatever is wanted. */
export function chooseEngine(): Engine {
  return portableEngine
}
