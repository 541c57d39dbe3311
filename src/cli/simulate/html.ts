import { accessSync, constants, statSync, writeFileSync } from 'node:fs'
import { dirname, sep } from 'node:path'
import { reasonOf } from '../../errors.js'
import { printable } from '../../printable.js'
import { lengthOf } from '../../scenario/plan.js'
import type { Scenario } from '../../scenario/scenario.js'
import type { LogData, PolicyData, ReportData } from '../../scene/model/report-data.js'
import type { Scene } from '../../simulation/scene.js'
import type { Result } from '../../simulation/simulation.js'
import { Timeline } from '../../simulation/timeline.js'
import type { Watcher } from '../../simulation/watcher.js'
import { readPage } from '../../web/page-source.js'
import { packageVersion } from '../version.js'
import { InputError } from './inputs.js'
import { fleetWords, introduction } from './introduction.js'

/** Servers that get a line of their own; more could not be told apart. */
const MOST_LISTED = 24

/** Bars of the distribution that a factor of two is cut into. */
const BARS = 8

/** Where the data goes in the page that was built. */
const PLACE = '<script id="data" type="application/json">null</script>'

/** What was simulated, and what came of it. */
export interface Simulated {
  readonly scenario: Scenario
  readonly scene: Scene
  readonly results: readonly Result[]
  readonly log: LogData | undefined
}

function template(): string {
  try {
    return readPage('report.html').toString()
  } catch (error) {
    throw new InputError(`error: there is no page for the report: ${reasonOf(error)}`)
  }
}

/** The page with its data. No text of a scenario or a log ends the element that it is in. */
function pageWith(data: ReportData, page: string): string {
  const json = JSON.stringify(data).replaceAll('<', '\\u003c')
  // By function: `$` in a name means nothing.
  return page.replace(PLACE, () => PLACE.replace('null', () => json))
}

/** A report in HTML: watches what it is to show, and is written when all is over. */
export class HtmlReport {
  /** Where it is written to. */
  readonly path: string
  readonly #page: string
  readonly #timelines: Timeline[] = []

  /** @throws InputError where it can't be written, or there is no page for it: better now than after a long run */
  constructor(path: string) {
    this.path = path
    this.#page = template()
    try {
      const there = statSync(path, { throwIfNoEntry: false })
      if (there?.isDirectory()) throw new Error(`${path} is a directory`)
      // With a separator at its end, what is no folder is not taken for one.
      accessSync(there === undefined ? dirname(path) + sep : path, constants.W_OK)
    } catch (error) {
      throw cantWrite(error)
    }
  }

  /** Watches the next policy. */
  watch(scene: Scene): Watcher {
    const timeline = new Timeline({
      servers: scene.servers.length,
      length: lengthOf(scene),
      warmup: scene.warmup ?? 0,
    })
    this.#timelines.push(timeline)
    return timeline
  }

  /** Writes the file, over one of the same name. @throws InputError */
  write(simulated: Simulated): void {
    const page = pageWith(dataOf(simulated, this.#timelines), this.#page)
    try {
      writeFileSync(this.path, page)
    } catch (error) {
      throw cantWrite(error)
    }
  }
}

function cantWrite(error: unknown): InputError {
  return new InputError(printable(`error: can't write the report: ${reasonOf(error)}`))
}

function dataOf({ scenario, scene, results, log }: Simulated, timelines: readonly Timeline[]): ReportData {
  const ids = results[0]?.nodes.map(({ id }) => id) ?? []
  const isListed = ids.length <= MOST_LISTED
  return {
    title: scenario.name ?? 'Policies compared',
    about: introduction(scenario, scene),
    fleet: fleetWords(scenario),
    version: packageVersion(),
    seed: scenario.seed,
    warmup: scene.warmup ?? 0,
    changes: scenario.changes
      .map(({ at, server, speed, background, state }) => ({
        at,
        what: [
          server
            .map((reference) => (typeof reference === 'number' ? ids[reference - 1] : reference))
            .join(', '),
          ...(state === undefined ? [] : [state]),
          ...(speed === undefined ? [] : [`speed ${speed}`]),
          ...(background === undefined ? [] : [`${background} % taken by other work`]),
        ].join(': '),
      }))
      .sort((a, b) => a.at - b.at),
    log,
    servers: isListed ? ids : [],
    policies: results.map((result, i) => policyData(result, timelines[i] as Timeline, isListed)),
  }
}

function policyData(result: Result, timeline: Timeline, isListed: boolean): PolicyData {
  const { policy, engine, workload, settled, response, worstWindow, requests, nodes } = result
  const windows = timeline.windows()
  const shares = windows.map(({ sent }) => {
    const total = sent.reduce((sum, count) => sum + count, 0)
    return sent.map((count) => (total === 0 ? null : four(count / total)))
  })
  return {
    name: policy,
    engine,
    workload,
    settled,
    mean: orNull(response.mean),
    p50: orNull(response.p50),
    p99: orNull(response.p99),
    p999: orNull(response.p999),
    max: orNull(response.max),
    worst: worstWindow && { share: worstWindow.share, server: worstWindow.node },
    failed: requests.errors + requests.timeouts + requests.refused,
    unended: requests.inSystem,
    nodes: isListed
      ? nodes.map(({ share, utilization }) => ({ share: orNull(share), utilization: orNull(utilization) }))
      : [],
    width: timeline.width,
    p99s: windows.map(({ p99 }) => orNull(p99)),
    shares: isListed
      ? nodes.map((_, server) => shares.map((window) => window[server] ?? null))
      : [shares.map((window) => (window[0] === null ? null : Math.max(...window.map(Number))))],
    bars: timeline.responses.bars(BARS).map(({ from, to, count }) => ({
      from: four(from),
      to: four(to),
      count,
    })),
  }
}

function orNull(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : four(value)
}

// Four digits are more than can be seen, and keep the file small.
function four(value: number): number {
  return Number(value.toPrecision(4))
}
