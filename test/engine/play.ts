import { PairBlock } from '../../dist/balancer/pair-block.js'
import { type Engine, type EngineCore, FACT_COUNT, type View } from '../../dist/engine/engine.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { enterFlight, leaveFlight } from '../../dist/table/in-flight.js'
import { NO_SLOT } from '../../dist/table/layout.js'
import type { TableMemory } from '../../dist/table/memory.js'
import { claimMetric } from '../../dist/table/metric-names.js'
import { Table } from '../../dist/table/table.js'
import type { Situation, Step } from './situations.js'

/** A table with nodes 0 to size - 1; node `size` and beyond are unknown to it. */
function tableOf({ size, readings }: Situation) {
  const clock = new VirtualClock(1_000)
  const table = new Table(clock)
  const places = Array.from({ length: size }, (_, i) => table.claim(`node-${i}`))
  // So that they are kept for all, whoever asks for them first.
  for (const name of ['queue', 'askers', 'answerers']) claimMetric(table.memory, name)
  for (const [i, { report, age }] of readings.entries()) {
    const place = places[i]
    if (place !== undefined) table.write(place, table.now() - age, report)
  }
  return { clock, table, places }
}

// Picks from pairs that were drawn ahead, where the core can do so; else one by one.
function pickAhead(core: EngineCore, memory: TableMemory, count: number, enter: () => void): number[] {
  const block = new PairBlock(core, memory)
  const hasPairs = block.fill()
  const picks = Array.from({ length: count }, (_, i) => {
    if (i === count >> 1) enter()
    return hasPairs ? block.next() : core.pick()
  })
  if (hasPairs) core.rewind(block.position)
  return picks
}

/** Runs the steps on one core, and gives everything that it said. */
export function play(engine: Engine, run: Situation): unknown[] {
  const { clock, table, places } = tableOf(run)
  const core = engine.createCore(table.memory, run.algorithm, run.seed, run.thread)
  const said: unknown[] = []
  let view: View = { values: new Float64Array(0), facts: new Float64Array(FACT_COUNT) }
  const join = (nodes: number[], states: number[], weights: number[]) => {
    const at = (node: number) => places[node] as { slot: number; generation: number }
    core.setMembers({
      // Every seventh is one that the table does not know.
      slots: Uint32Array.from(nodes, (node) => (node % 7 === 6 ? NO_SLOT : at(node).slot)),
      generations: Uint32Array.from(nodes, (node) => at(node).generation),
      states: Uint8Array.from(nodes, (_, i) => states[i] ?? 1),
      weights: Float64Array.from(nodes, (_, i) => weights[i] ?? (i % 3) + 1),
    })
    view = { values: new Float64Array(nodes.length), facts: view.facts }
  }
  const enter = (node: number) => {
    const place = places[node]
    if (place !== undefined) enterFlight(table.memory, place.slot, place.generation)
  }
  const refresh = () => {
    core.refresh(table.now(), view)
    const shares = new Float64Array(view.values.length)
    core.fillShares(shares)
    said.push([...view.values], [...view.facts], [...shares], core.ignored)
  }
  join(
    places.map((_, i) => i),
    [],
    [],
  )
  refresh()
  for (const step of [
    ...run.steps,
    { kind: 'refresh' } as Step,
    { kind: 'fill', count: 20, kept: 0 } as Step,
  ]) {
    switch (step.kind) {
      case 'report': {
        const place = places[step.node]
        if (place !== undefined) said.push(table.write(place, table.now() - step.age, step.report))
        table.publish()
        break
      }
      case 'probed':
        said.push(core.probed?.(step.member, step.inFlight, step.latency, table.now() - step.age))
        break
      case 'leave': {
        const place = places[step.node]
        if (place !== undefined) table.unclaim(place)
        break
      }
      case 'members':
        join(step.nodes, step.states, step.weights)
        refresh()
        break
      case 'enter':
      case 'end': {
        const place = places[step.node]
        const count = step.kind === 'enter' ? enterFlight : leaveFlight
        if (place !== undefined) said.push(count(table.memory, place.slot, place.generation))
        break
      }
      case 'sent':
        core.learner?.sent(step.index)
        break
      case 'ended':
        core.learner?.ended(step.index, step.left, step.ok, step.latency, step.alone)
        break
      case 'setAside':
        core.learner?.setAside(step.index, step.count)
        break
      case 'wait':
        clock.jump(step.ms)
        break
      case 'refresh':
        refresh()
        break
      case 'fill': {
        const into = new Uint32Array(step.count)
        const drawn = core.fill(into)
        said.push(drawn, [...into])
        if (drawn > 0 && !core.live) core.rewind(Math.min(step.kept, drawn))
        break
      }
      case 'pick':
        if (core.live) said.push(core.pick(), core.atRandom?.())
        break
      case 'pairs':
        if (core.live) said.push(...pickAhead(core, table.memory, step.count, () => enter(step.node)))
        break
      case 'exclude':
        said.push(core.pickExcluding(Uint32Array.from(step.indices)))
        break
    }
  }
  return said
}
