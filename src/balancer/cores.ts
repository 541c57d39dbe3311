import { type Algorithm, engineAlgorithmOf, needsOf } from '../algorithms/registry.js'
import type { Engine, EngineCore } from '../engine/engine.js'
import { Generator } from '../engine/portable/generator.js'
import { OptionError } from '../errors.js'
import type { TableBuffer, TableMemory } from '../table/memory.js'
import { CustomCore, type CustomRunner } from './custom.js'
import { LocalCore } from './local-core.js'
import type { Member } from './member.js'
import { createTurns, MEMBER_TURN, SharedTurn, SharedTurnCore } from './shared-turn.js'

export interface CoreOptions {
  readonly engine: Engine
  readonly memory: TableMemory
  readonly algorithm: Algorithm
  readonly seed: readonly [number, number]
  /** The id of this thread. */
  readonly thread: number
  /** Where turns are taken, for algorithms that share them. */
  readonly turns: TableBuffer | undefined
  /** Runs the algorithm, where it is the user's. */
  readonly custom: CustomRunner | undefined
  /** The members that `setMembers` is being given. */
  readonly membersOf: () => readonly Member[]
  /** The index of the local node among these, or -1. */
  readonly indexOfSelf: () => number
}

/** The core that picks among members: an engine's, with what goes around it for some algorithms. */
export function coreOf(options: CoreOptions): EngineCore {
  const { engine, memory, algorithm, seed, thread, turns, custom } = options
  const core = engine.createCore(memory, engineAlgorithmOf(algorithm), seed, thread)
  if (needsOf(algorithm).self) return new LocalCore(core, options.indexOfSelf)
  if (custom !== undefined) return new CustomCore(core, custom, options.membersOf)
  return turns === undefined ? core : new SharedTurnCore(core, new SharedTurn(turns, MEMBER_TURN))
}

/** Memory for turns, where the algorithm shares them: from the same start as it would have alone. */
export function turnsFor(algorithm: Algorithm, seed: readonly [number, number]): TableBuffer | undefined {
  if (!needsOf(algorithm).turns) return undefined
  return createTurns(new Generator(seed).next())
}

/** Throws OptionError where the algorithm needs a local node and there is none. */
export function checkSelf(algorithm: Algorithm, self: string | undefined): void {
  if (needsOf(algorithm).self && self === undefined) {
    throw new OptionError('self', self, 'the local node, since local() picks it')
  }
}
