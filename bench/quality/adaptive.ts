import { Generator } from '../../dist/engine/portable/generator.js'
import type { Report } from '../../dist/index.js'
import type { Dispatcher, DispatcherSetting, Policy } from '../../dist/simulation/policy.js'
import { NONE } from '../../dist/simulation/requests.js'
import { Candidates, type Comparing } from './candidates.js'
import { seedWords } from './seeds.js'

/** Parameters of the prototype of `adaptive()`. */
export interface AdaptiveRules extends Comparing {
  /** Responses of a node over which its cost is learned. */
  readonly memory: number
  /** What is known of a node fades with this time constant, ms: it is tried again some time. */
  readonly fading: number
  /** Responses that the mean of all nodes counts as, in each node's cost. */
  readonly prior: number
  /** A node that gives errors alone counts as so many times as slow, less one. */
  readonly errorCost: number
  /** Part of the way that a share of errors goes at each response, 0-1. */
  readonly errorGain: number
  /** A share of errors fades with this time constant, ms. */
  readonly forgiving: number
  /** A node's cost is at most so many times the mean. */
  readonly within: number
  /** Difference of two scores that counts as none, where this process sends all that the nodes get, 0-1. */
  readonly band: number
  /** What this process is taken to send of what the nodes get where no report says, 0-1. */
  readonly ownShare: number
  /** Time constant over which that share is taken from reports, ms. */
  readonly smoothing: number
  /** Longest time between two refreshes while requests end, ms. */
  readonly refresh: number
  /** Whether picks are leases; for trials of `select` alone. */
  readonly leases: boolean
}

/**
 * The defaults, as found by trials. They are not finely tuned: with `memory`, `fading`, `prior`, `band`, `errorCost`,
 * `errorGain` or `forgiving` halved or doubled p99 changed by 6 % at most in the scenes where they matter. With `within`
 * at 20 a node that hung came back late or not at all, and with 8 candidates out of 64 nodes p99 was an eighth worse.
 */
export const adaptiveRules: AdaptiveRules = {
  memory: 128,
  fading: 10_000,
  prior: 5,
  errorCost: 10,
  errorGain: 1 / 8,
  forgiving: 5_000,
  within: 10,
  band: 0.2,
  ownShare: 0.25,
  smoothing: 10_000,
  refresh: 1_000,
  leases: true,
  all: 16,
  cheapest: 4,
  emptied: 8,
  drawn: 4,
}

/** The shortest response time that is told from none, ms. */
const SHORTEST = 1e-3

/** The least spare CPU, as a share, of a node that still gets picks without leases. */
const LEAST_SPARE = 0.01

/**
 * The prototype of `adaptive()`, idlest's recommended algorithm, until both engines have it.
 *
 * **What it does.** Each balancer learns for each node what one request there costs: the sum of response times over the
 * sum of loads, where a response's load is what it leaves behind of this process plus one. By the law of levels (a
 * queue that goes up and down by ones is found by arrivals as it is left by departures) that is the response time to
 * expect for each request there, whatever makes the node slow: other work, fewer or slower cores, a long way, the
 * requests of other clients. The score of a node is `(in flight + 1) x cost`, the response time to expect of this very
 * request, and the least wins. No service time, no number of cores and no report is needed.
 *
 * **Why many balancers do not herd.** The costs are private. Where this process sends a large part of what a node gets,
 * its own requests in flight say much of the queue there, so the cost of a request is low beside that of a node where
 * others' requests are in the way. So a balancer prefers the nodes that it already uses most, goes on to others when
 * its own requests wait there, and moves away where another balancer has settled too. Nobody tells them to, but
 * balancers share out the nodes among themselves, and then each knows most of what it needs to know by itself.
 *
 * **What failed**, as p99 of one node slow with 8 balancers, two slow with 8, and the fleet, where this has 76, 111 and
 * 241 ms. Mostly single runs of 60 % of the requests, so that 3 % is nothing; some on forerunners that had 253 in the
 * fleet, which is said then.
 * - weights that all balancers share break ties the same way for all, so that they herd: qps / CPU 128 and 236, true
 *   service times 128 and 180. As the prior of the costs with the weight of 20 to 100 responses, not smoothed: 85 to 110,
 *   120 to 230, 2.1 to 5.2 s
 * - qps / CPU underrates a node with other work also for 1 balancer: two slow 193 ms instead of 87
 * - the mean of others' requests in flight by what nodes report, added to one's own: 75, 117; fresh ones from responses
 *   with it: 76, 111, but 56 s in the fleet, since all see the same means
 * - fresh reports from responses alone, against what is usual there: 77 to 79, 110, 232 to 239 (a forerunner)
 * - others' requests by the latency of one's last response, which left behind what came while it was there: not pursued,
 *   since exact reports of the same say so little
 * - 3 probes a request, pool of 16, scored by the probed queue: 285 alone; 228 to 243 with costs beside, and 217 to 228
 *   with reports in responses too (a forerunner, that had 247 without): 3 to 12 % for three more messages a request.
 *   Prequal's own rules on the same probes: 307 to 317. Probing before the pick, and waiting for it: 202
 * - costs that are straight lines with the true service time as slope, not rays through the origin: 77, 112, 240
 * - the load that a request finds instead of what it leaves: the same
 * - own recent sends added to the score, which evens out arrivals: 101 to 108, 142 to 197; it breaks up the sharing-out
 * - `cost` to the power of 2: 85, 152, 280; 0.7 and 1.5 are no better than 1 (1.5 gives 246 at 95 % load, not 160);
 *   `in flight + 0.5` to `+ 2`: within 3 %
 * - least used instead of random among those within the band: 3 to 5 % worse with 8 balancers
 * - candidates drawn by weight instead of uniformly: the fleet 250 to 430. 8 candidates instead of 16: 84 with 64 nodes
 *   and 8 balancers, not 75. The 16 cheapest and none drawn: 46 s, since nobody finds out what else there is. All 100:
 *   229. What ran empty last (as in join-idle-queue) makes 64 nodes with 1 balancer nearly as good as comparing all: 57
 *   instead of 63 ms, all 55
 * - a wide band for everybody: 90 and 93 for 0.2 and 0.5 with 8 balancers. None: one node gets 1.43 of its share in a
 *   window with 1 balancer, and 3.3 at 20 % load, for no gain. Hence one as wide as this process's share
 * - errors as response times ten times the mean, or time-outs as they are: a node that was silent for 20 s was not
 *   tried again in two minutes
 * - without leases, costs that level the CPU of all nodes step by step: 101 to 123 with one slow, but minutes to settle
 *
 * **What to know.** The band needs reports of requests in flight to know its share; without, it is taken as 0.25, and
 * nothing else changes. Times with a coarse clock do as well: steps of 4 ms change nothing. At little load one balancer
 * packs: the largest share of a node in a window is 2.4 of an equal one at 20 %, 1.5 at 50 %; each request still finds
 * an idle node. A cold start is like `leastConnections` for the first few responses of each node. `select` without a
 * lease tells nothing of responses: it is then weighted by spare CPU, in turn, which is `spareCapacity` without its
 * chance (102 instead of 160 ms for equal nodes, 111 to 121 instead of 180 with one slow), and just as unstable at
 * high load.
 */
export function adaptive(name: string, given: Partial<AdaptiveRules> = {}): Policy {
  return { name, create: (setting) => new Adaptive({ ...adaptiveRules, ...given }, setting) }
}

class Adaptive implements Dispatcher {
  readonly engine = undefined
  readonly #rules: AdaptiveRules
  readonly #clock: DispatcherSetting['clock']
  readonly #generator: Generator
  readonly #members: number[]
  readonly #sentTo = new Map<number, number>()
  readonly #candidates: Candidates
  // By node. Requests in flight of this process, and picks without lease that are ahead of the others'.
  readonly #inFlight: Float64Array
  readonly #ahead: Float64Array
  // Sums over responses without error: requests there as it left, itself included; response times, ms.
  readonly #loads: Float64Array
  readonly #times: Float64Array
  readonly #errors: Float64Array
  /** Response time to expect for each request there, ms. */
  readonly #cost: Float64Array
  // Reported: requests in flight, and smoothed spare CPU; NaN where nothing is known.
  readonly #reported: Float64Array
  readonly #spare: Float64Array
  #refreshed = 0
  #meanCost = 1
  #ownInFlight = 0
  #allInFlight = 0
  #band: number

  constructor(given: AdaptiveRules, { clock, servers, present, seed }: DispatcherSetting) {
    this.#rules = given
    this.#clock = clock
    this.#generator = new Generator(seedWords(seed))
    this.#members = [...present]
    this.#candidates = new Candidates(given, this.#generator, this.#members)
    const each = (value: number) => new Float64Array(servers).fill(value)
    this.#inFlight = each(0)
    this.#ahead = each(0)
    this.#loads = each(0)
    this.#times = each(0)
    this.#errors = each(0)
    this.#cost = each(1)
    this.#reported = each(Number.NaN)
    this.#spare = each(Number.NaN)
    this.#band = given.band * given.ownShare
  }

  begin(request: number): number {
    if (this.#members.length === 0) return NONE
    const node = this.#pick()
    const counted = this.#rules.leases ? this.#inFlight : this.#ahead
    counted[node] = at(counted, node) + 1
    if (this.#rules.leases) this.#sentTo.set(request, node)
    return node
  }

  end(request: number, ok: boolean, latency: number): void {
    const { memory, errorGain, refresh } = this.#rules
    const node = this.#sentTo.get(request)
    if (node === undefined) return
    this.#sentTo.delete(request)
    const left = at(this.#inFlight, node) - 1
    this.#inFlight[node] = left
    if (left === 0) this.#candidates.emptied(node)
    const errors = at(this.#errors, node)
    this.#errors[node] = errors + errorGain * ((ok ? 0 : 1) - errors)
    if (ok) {
      const keep = 1 - 1 / memory
      this.#loads[node] = at(this.#loads, node) * keep + (left + 1)
      this.#times[node] = at(this.#times, node) * keep + Math.max(latency, SHORTEST)
    }
    this.#learn(node)
    const now = this.#clock.now()
    if (now - this.#refreshed >= refresh) this.#refresh(now)
  }

  report(node: number, { inFlight, cpu }: Report): void {
    if (cpu === undefined) return
    if (inFlight !== undefined) this.#reported[node] = inFlight
    const spare = Math.max(LEAST_SPARE, 1 - cpu / 100)
    const before = at(this.#spare, node)
    // Of reports every 5 s, a time constant of 10 s.
    this.#spare[node] = Number.isNaN(before) ? spare : before + (spare - before) / 3
    // Where nothing is leased nothing ends.
    if (!this.#rules.leases) this.#refresh(this.#clock.now())
  }

  join(node: number): void {
    this.#members.push(node)
    this.#candidates.changed()
    this.#learn(node)
  }

  leave(node: number): void {
    this.#members.splice(this.#members.indexOf(node), 1)
    this.#candidates.changed()
  }

  close(): void {}

  // The least score, or at random among those within the band of it.
  #pick(): number {
    const { nodes, scores } = this.#candidates
    const count = this.#candidates.gather()
    let least = Number.POSITIVE_INFINITY
    for (let k = 0; k < count; k++) {
      const node = at(nodes, k)
      const score = (at(this.#inFlight, node) + at(this.#ahead, node) + 1) * at(this.#cost, node)
      scores[k] = score
      if (score < least) least = score
    }
    const most = least * (1 + this.#band)
    let alike = 0
    for (let k = 0; k < count; k++) if (at(scores, k) <= most) alike++
    let skip = alike > 1 ? this.#generator.below(alike) : 0
    let k = 0
    while (at(scores, k) > most || skip-- > 0) k++
    return at(nodes, k)
  }

  #learn(node: number): void {
    const { prior, errorCost } = this.#rules
    const cost = (at(this.#times, node) + prior * this.#meanCost) / (at(this.#loads, node) + prior)
    this.#cost[node] = cost * (1 + errorCost * at(this.#errors, node))
  }

  #refresh(now: number): void {
    const elapsed = now - this.#refreshed
    if (elapsed <= 0) return
    this.#refreshed = now
    this.#fade(elapsed)
    this.#share(elapsed)
    this.#candidates.order(this.#cost)
  }

  #fade(elapsed: number): void {
    const { fading, forgiving, within } = this.#rules
    const keep = fading / (fading + elapsed)
    const keepErrors = forgiving / (forgiving + elapsed)
    let loads = 0
    let times = 0
    let least = Number.POSITIVE_INFINITY
    for (const node of this.#members) {
      this.#loads[node] = at(this.#loads, node) * keep
      this.#times[node] = at(this.#times, node) * keep
      this.#errors[node] = at(this.#errors, node) * keepErrors
      loads += at(this.#loads, node)
      times += at(this.#times, node)
      least = Math.min(least, at(this.#ahead, node) * at(this.#cost, node))
    }
    if (loads > 0) this.#meanCost = times / loads
    for (const node of this.#members) {
      const ahead = at(this.#ahead, node) * at(this.#cost, node) - least
      if (loads > 0) {
        this.#times[node] = Math.min(at(this.#times, node), within * this.#meanCost * at(this.#loads, node))
        this.#learn(node)
      } else {
        const spare = at(this.#spare, node)
        this.#cost[node] = Number.isNaN(spare) ? 1 : 1 / spare
      }
      this.#ahead[node] = ahead / at(this.#cost, node)
    }
  }

  // What this process has in flight, of what the nodes have.
  #share(elapsed: number): void {
    const { smoothing, band, ownShare } = this.#rules
    let own = 0
    let all = 0
    for (const node of this.#members) {
      if (Number.isNaN(at(this.#reported, node))) continue
      own += at(this.#inFlight, node)
      all += at(this.#reported, node)
    }
    const gain = elapsed / (smoothing + elapsed)
    this.#ownInFlight += gain * (own - this.#ownInFlight)
    this.#allInFlight += gain * (all - this.#allInFlight)
    const known = this.#allInFlight > 0
    this.#band = band * (known ? Math.min(1, this.#ownInFlight / this.#allInFlight) : ownShare)
  }
}

function at(values: ArrayLike<number>, index: number): number {
  return values[index] as number
}
