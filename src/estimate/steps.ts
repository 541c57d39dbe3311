import type { FleetFigures } from './estimate.js'
import { inFormula, percent, plain, rounded } from './formats.js'
import type { FleetInputs } from './inputs.js'

/** What all steps of an estimate have. */
export interface EstimateStep {
  /** 1-7. */
  readonly n: number
  /** What the step finds. */
  readonly what: string
  /** What there is to say about these numbers, such as that a load is over 100 %. */
  readonly notes: readonly string[]
}

/** A step with one result. */
export interface ValueStep extends EstimateStep {
  /** Which kind of step it is. */
  readonly kind: 'value'
  /** The formula, in words. */
  readonly formula: string
  /** The formula with its numbers in it, rounded for reading. */
  readonly numbers: string
  /** Not rounded. A share of 1 is 100 %. */
  readonly value: number
  /** What `value` is in. */
  readonly unit: 'requests/s' | 'servers' | 'share' | 'requests'
}

/** The step that takes a part of one server's CPU away: loads by round robin, and by spare capacity. */
export interface LossStep extends EstimateStep {
  /** Which kind of step it is. */
  readonly kind: 'loss'
  /** The two formulas, in words. */
  readonly formula: { readonly equalShare: string; readonly bySpareCapacity: string }
  /** The formulas with their numbers in them, rounded for reading. */
  readonly numbers: { readonly equalShare: string; readonly bySpareCapacity: string }
  /** Load of the server that lost, by round robin; 1 is 100 %. Over that its queue grows. */
  readonly equalShare: number
  /** Load of every server. */
  readonly bySpareCapacity: number
}

/** What follows from the others. */
export interface AdviceStep extends EstimateStep {
  /** Which kind of step it is. */
  readonly kind: 'advice'
  /** What follows, in words. */
  readonly text: string
}

/** A step of an estimate. */
export type FleetStep = ValueStep | LossStep | AdviceStep

const ADVICE =
  'reports are weights, not a single winner; the report interval is short against how fast load changes'

function serversNotes({ planned, needed, peak }: FleetFigures, { servers }: FleetInputs): string[] {
  const notes = peak === 0 ? ['without any traffic it is one server all the same'] : []
  if (needed !== planned) notes.push(`the traffic of now takes ${plain(needed)}`)
  if (servers !== undefined && servers !== planned) notes.push(`${plain(servers)} run`)
  return notes
}

function loadNotes(inputs: FleetInputs, { load, traffic }: FleetFigures): string[] {
  const { trafficFactor, targetLoad } = inputs
  const notes: string[] = []
  if (trafficFactor !== 1) {
    notes.push(
      `traffic is ${inFormula(trafficFactor)} times the planned peak: ${rounded(traffic)} requests/s`,
    )
  }
  if (load > 1) notes.push('over 100 %: more comes in than all servers can do, and queues grow without end')
  // A fleet that is planned to the brim is at its target but for the last bit.
  else if (load > targetLoad * (1 + 1e-12)) notes.push(`over the target of ${percent(targetLoad)}`)
  return notes
}

function lossNotes(inputs: FleetInputs, figures: FleetFigures): string[] {
  const { serverCapacity, lostShare } = inputs
  const { servers, perServer, equalShare, bySpareCapacity } = figures
  const notes = servers === 1 ? ['there is one server: no other takes over'] : []
  if (equalShare > 1) {
    const growth = perServer - serverCapacity * (1 - lostShare)
    notes.push(
      `over 100 % by an equal share (round robin): it is sent more than it can do, and its queue grows by ${rounded(growth)} requests every second`,
    )
  }
  if (bySpareCapacity > 1) {
    notes.push('over 100 % by spare capacity too: what is left of the fleet is less than the traffic')
  }
  return notes
}

function reportNotes({ serverCapacity, reportInterval }: FleetInputs, figures: FleetFigures): string[] {
  const can = serverCapacity * reportInterval
  return figures.perReport > can ? [`it can do ${rounded(can)} in that time`] : []
}

/** The steps of an estimate, as people would do it by hand. */
export function stepsOf(inputs: FleetInputs, figures: FleetFigures): FleetStep[] {
  const { dailyActiveUsers: users, requestsPerUserPerDay: requests, peakFactor } = inputs
  const { serverCapacity, targetLoad, lostShare, reportInterval } = inputs
  const { average, peak, planned, servers, traffic, load } = figures
  const n = plain(servers)
  const lost = plain(lostShare)
  return [
    {
      n: 1,
      kind: 'value',
      what: 'average requests per second',
      formula: 'users * requests / 86400',
      numbers: `${plain(users)} * ${plain(requests)} / 86,400`,
      value: average,
      unit: 'requests/s',
      notes: [],
    },
    {
      n: 2,
      kind: 'value',
      what: 'peak requests per second',
      formula: 'average * peak factor',
      numbers: `${inFormula(average)} * ${plain(peakFactor)}`,
      value: peak,
      unit: 'requests/s',
      notes: [],
    },
    {
      n: 3,
      kind: 'value',
      what: 'servers',
      formula: 'ceil(peak / (capacity * target))',
      numbers: `ceil(${inFormula(peak)} / (${plain(serverCapacity)} * ${plain(targetLoad)}))`,
      value: planned,
      unit: 'servers',
      notes: serversNotes(figures, inputs),
    },
    {
      n: 4,
      kind: 'value',
      what: 'load on each server',
      formula: 'traffic / (n * capacity)',
      numbers: `${inFormula(traffic)} / (${n} * ${plain(serverCapacity)})`,
      value: load,
      unit: 'share',
      notes: loadNotes(inputs, figures),
    },
    {
      n: 5,
      kind: 'loss',
      what: `one server losing ${lostShare === 0.5 ? 'half' : percent(lostShare)} of its CPU`,
      formula: { equalShare: 'load / (1 - lost)', bySpareCapacity: 'load * n / (n - lost)' },
      numbers: {
        equalShare: `${inFormula(load)} / (1 - ${lost})`,
        bySpareCapacity: `${inFormula(load)} * ${n} / (${n} - ${lost})`,
      },
      equalShare: figures.equalShare,
      bySpareCapacity: figures.bySpareCapacity,
      notes: lossNotes(inputs, figures),
    },
    {
      n: 6,
      kind: 'value',
      what: 'requests aimed at one server between reports by sending all to the least loaded',
      formula: 'traffic * interval',
      numbers: `${inFormula(traffic)} * ${plain(reportInterval)}`,
      value: figures.perReport,
      unit: 'requests',
      notes: reportNotes(inputs, figures),
    },
    { n: 7, kind: 'advice', what: 'advice', text: ADVICE, notes: [] },
  ]
}
