import type {
  CustomChoice,
  CustomContext,
  CustomNodeChange,
  CustomPicker,
  CustomReading,
} from '../algorithms/custom/options.js'
import { type Algorithm, userMadeOf } from '../algorithms/registry.js'
import type { Clock } from '../clock.js'
import { type EngineCore, type MemberArrays, NOT_ELIGIBLE, type View } from '../engine/engine.js'
import { Generator } from '../engine/portable/generator.js'
import { OptionError, reasonOf, shown } from '../errors.js'
import { catchRejection, ignoreRejection } from '../rejections.js'
import { inFlight } from '../table/in-flight.js'
import { MILLI, NO_SLOT, readingTag } from '../table/layout.js'
import type { TableMemory } from '../table/memory.js'
import { type MutableReading, readReading } from '../table/reading.js'
import { readReport } from '../table/report.js'
import { tableTime } from '../table/table.js'
import { type CustomErrorEvent, publishCustomError } from '../telemetry.js'
import { warn } from '../warn.js'
import { isFailure, isLatency, type Outcome } from './lease.js'
import type { Member, Place } from './member.js'
import { looseId, type NodeLike } from './node.js'
import { type MemberState, stateOf } from './standings.js'

const NO_PLACE: Place = { id: '', slot: NO_SLOT, generation: 0 }

/** What went wrong in an algorithm of the user's, counted. */
export interface CustomCounters {
  /** Picks of a custom algorithm that were no candidate; a random one was picked in their place. */
  badPicks: number
  /** Times that `onNodeChange` or `onRelease` of a custom algorithm threw, or returned a promise that rejected. */
  hookErrors: number
}

export interface RunnerOptions {
  /** Makes what picks. */
  readonly make: () => CustomPicker
  /** The balancer's. */
  readonly name: string
  readonly memory: TableMemory
  readonly clock: Clock
  readonly seed: readonly [number, number]
  readonly counters: CustomCounters
}

/** What `select` of the user's is given, and where the nodes in it are found. */
export class Choice implements CustomChoice {
  readonly balancer: string
  readonly now: () => number
  readonly random: () => number
  readonly nodes: readonly NodeLike[]
  readonly reading: CustomChoice['reading']
  readonly report: CustomChoice['report']
  #positions: Map<unknown, number> | undefined

  constructor(
    context: CustomContext,
    nodes: readonly NodeLike[],
    { reading, report }: Pick<CustomChoice, 'reading' | 'report'>,
  ) {
    this.balancer = context.balancer
    this.now = context.now
    this.random = context.random
    // Theirs to look at, not to change.
    this.nodes = Object.freeze(nodes)
    this.reading = reading
    this.report = report
  }

  /** The index of what the user picked, or -1 where it is none of these. */
  indexOf(picked: unknown): number {
    if (typeof picked === 'number')
      return Number.isInteger(picked) && this.nodes[picked] !== undefined ? picked : -1
    // Backwards, so that of an id that stands twice the first is found.
    this.#positions ??= new Map(this.nodes.map((node, i) => [looseId(node), i] as const).reverse())
    return this.#positions.get(looseId(picked)) ?? -1
  }
}

/** Runs an algorithm of the user's for one balancer, and keeps what it does wrong from others. */
export class CustomRunner {
  readonly #picker: CustomPicker
  readonly #name: string
  readonly #options: RunnerOptions
  readonly #generator: Generator
  readonly #context: CustomContext
  readonly #warned = new Set<string>()
  readonly #found: MutableReading = { time: 0, tag: 0, value: 0 }
  // The members that were told of, as they were.
  #known = new Map<Member, MemberState>()

  /** Throws what `init` throws, OptionError. */
  constructor(options: RunnerOptions) {
    const { make, name, clock, seed } = options
    const generator = new Generator(seed)
    this.#options = options
    this.#generator = generator
    this.#picker = make()
    this.#name = this.#picker.name ?? 'custom'
    this.#context = Object.freeze({
      balancer: name,
      now: () => clock.now(),
      random: () => generator.next() / 2 ** 32,
    })
    const begun: unknown = this.#picker.init?.(this.#context)
    if (typeof begun === 'object' && begun !== null && 'then' in begun) {
      ignoreRejection(begun)
      throw new OptionError('custom.init', begun, 'a function that is not async')
    }
  }

  /** A choice among these nodes, whose places are in the same order. */
  choiceOf(nodes: readonly NodeLike[], places: readonly Place[]): Choice {
    return new Choice(this.#context, nodes, {
      reading: (index) => this.#read(places[index]),
      report: (index) => {
        const { slot, generation } = places[index] ?? NO_PLACE
        return readReport(this.#options.memory, slot, generation)
      },
    })
  }

  /** Lets the user pick: an index of `choice.nodes`, or -1 for none. Throws what `select` throws. */
  pick(choice: Choice): number {
    const picked = this.#picker.select(choice)
    if (picked === undefined) return -1
    const index = choice.indexOf(picked)
    if (index >= 0) return index
    this.#options.counters.badPicks++
    ignoreRejection(picked)
    this.#tell(
      { kind: 'pick', value: picked },
      `picked ${shown(picked)}, which is none of the nodes that it may pick`,
    )
    return this.#generator.below(choice.nodes.length)
  }

  /** Tells how these members differ from those that were told of last. */
  membersChanged(members: readonly Member[]): void {
    const before = this.#known
    // Before anyone is told: who is told may change the members.
    this.#known = new Map(members.map((member) => [member, stateOf(member)]))
    for (const member of before.keys()) if (!this.#known.has(member)) this.#changed('remove', member)
    for (const [member, state] of [...this.#known]) {
      if (!before.has(member)) this.#changed('add', member)
      if (state !== (before.get(member) ?? 'up')) this.#changed(state, member)
    }
  }

  /** Tells of a lease that was released. */
  released(node: NodeLike, outcome: Outcome | undefined): void {
    const { ok, error, kind, latency, neutral } = outcome ?? {}
    try {
      const returned: unknown = this.#picker.onRelease?.(node, {
        ok: !isFailure(ok, error),
        error,
        kind,
        latency: isLatency(latency) ? latency : undefined,
        neutral: neutral === true,
      })
      catchRejection(returned, (error) => this.#failed('onRelease', error))
    } catch (error) {
      this.#failed('onRelease', error)
    }
  }

  #changed(kind: CustomNodeChange['kind'], { node }: Member): void {
    try {
      const returned: unknown = this.#picker.onNodeChange?.({ kind, node })
      catchRejection(returned, (error) => this.#failed('onNodeChange', error))
    } catch (error) {
      this.#failed('onNodeChange', error)
    }
  }

  #read(place: Place = NO_PLACE): CustomReading {
    const { memory, clock } = this.#options
    const found = this.#found
    readReading(memory, place.slot, found)
    const known = found.value >= 0 && found.tag === readingTag(place.generation)
    return {
      cpu: known ? found.value / MILLI : undefined,
      age: known ? Math.max(0, tableTime(memory, clock.now()) - found.time) : undefined,
      inFlight: inFlight(memory, place.slot, place.generation),
    }
  }

  #failed(kind: 'onNodeChange' | 'onRelease', error: unknown): void {
    this.#options.counters.hookErrors++
    this.#tell({ kind, error }, `threw in ${kind}: ${reasonOf(error)}`)
  }

  #tell(event: Pick<CustomErrorEvent, 'kind' | 'value' | 'error'>, what: string): void {
    const { name: balancer } = this.#options
    publishCustomError({ balancer, algorithm: this.#name, ...event })
    if (this.#warned.has(event.kind)) return
    this.#warned.add(event.kind)
    warn(`balancer ${balancer}: the algorithm ${shown(this.#name)} ${what}`, 'IDLEST_CUSTOM')
  }
}

/** What runs the algorithm, where it is the user's. Throws what its `init` throws, OptionError. */
export function runnerOf(
  algorithm: Algorithm,
  options: Omit<RunnerOptions, 'make'>,
): CustomRunner | undefined {
  const make = userMadeOf(algorithm)
  return make && new CustomRunner({ ...options, make })
}

/** Picks among members by an algorithm of the user's; an engine says who may be picked. */
export class CustomCore implements EngineCore {
  readonly name
  readonly live = true
  readonly #core: EngineCore
  readonly #runner: CustomRunner
  readonly #membersOf: () => readonly Member[]
  #members: readonly Member[] = []
  #values: Float64Array = new Float64Array(0)
  #band: Uint32Array = new Uint32Array(0)
  #choice: Choice | undefined

  /**
   * @param core a core of `random`, whose draws are not used
   * @param membersOf the members that `setMembers` is being given
   */
  constructor(core: EngineCore, runner: CustomRunner, membersOf: () => readonly Member[]) {
    this.name = core.name
    this.#core = core
    this.#runner = runner
    this.#membersOf = membersOf
  }

  setMembers(members: MemberArrays): void {
    this.#core.setMembers(members)
    this.#members = this.#membersOf()
    this.#choice = undefined
  }

  refresh(now: number, view: View): void {
    this.#core.refresh(now, view)
    // Who may be picked changes with the members alone.
    if (this.#choice !== undefined) return
    this.#values = view.values
    this.#band = this.#bandBut(new Set())
    this.#choice = this.#choiceOf(this.#band)
  }

  fill(into: Uint32Array): number {
    for (let i = 0; i < into.length; i++) {
      const index = this.pick()
      if (index < 0) return i
      into[i] = index
    }
    return into.length
  }

  pick(): number {
    return this.#pickOf(this.#band, this.#choice)
  }

  rewind(): void {}

  pickExcluding(excluded: Uint32Array): number {
    const band = this.#bandBut(new Set(excluded))
    return this.#pickOf(band, this.#choiceOf(band))
  }

  fillShares(shares: Float64Array): void {
    this.#core.fillShares(shares)
  }

  #bandBut(excluded: ReadonlySet<number>): Uint32Array {
    const values = this.#values
    return Uint32Array.from(values.keys()).filter((i) => values[i] !== NOT_ELIGIBLE && !excluded.has(i))
  }

  #choiceOf(band: Uint32Array): Choice {
    const members = Array.from(band, (index) => this.#members[index] as Member)
    return this.#runner.choiceOf(
      members.map(({ node }) => node),
      members,
    )
  }

  #pickOf(band: Uint32Array, choice: Choice | undefined): number {
    if (choice === undefined || band.length === 0) return -1
    const members = this.#members
    const picked = this.#runner.pick(choice)
    if (picked < 0) return -1
    const index = band[picked] as number
    // Theirs may have changed the members and picked again: then they have other indices, and who was picked may have left.
    return this.#members === members ? index : this.#members.indexOf(members[index] as Member)
  }
}
