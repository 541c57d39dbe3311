import { Budget } from './budget.js'
import { burn, cpuTime } from './burn.js'

/** The longest piece of work between two looks at the network, CPU ms. */
const SLICE = 1

/** Part of the difference that the mean of the overhead takes on with each request. */
const GAIN = 0.02

export interface GovernorOptions {
  /** What the process may use, as a part of one core. */
  readonly share: number
  /** What a second job takes of the share all the time, 0 to below 1. */
  readonly secondJob: number
}

/** Sums since the start. */
export interface Usage {
  /** CPU time of the process, ms. */
  readonly cpu: number
  /** CPU time of the second job, ms. */
  readonly secondJob: number
  /** CPU time that it was due and had work for, but didn't get from the system, ms. */
  readonly lost: number
  /** Requests that are done. */
  readonly served: number
  /** Time by this process's clock, ms. */
  readonly time: number
}

interface Task {
  left: number
  readonly done: () => void
}

/**
 * Does the work of a process, and keeps the process to its share of a core: requests in order, one at a time, beside a
 * second job that has its own part. It works in slices, and waits whenever the process as a whole (handling of HTTP
 * included) has used what it may.
 */
export class Governor {
  readonly #requests: Budget
  readonly #job: Budget | undefined
  readonly #waiting: Task[] = []
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined
  #cpuSeen = cpuTime()
  #jobCpu = 0
  #served = 0
  // What a request costs beside its burnt work, CPU ms; and what was so used since the last request.
  #overhead = 0
  #overheadNow = 0

  constructor({ share, secondJob }: GovernorOptions) {
    const now = performance.now()
    this.#requests = new Budget(share * (1 - secondJob), SLICE, now)
    if (secondJob > 0) this.#job = new Budget(share * secondJob, SLICE, now)
    this.#schedule()
  }

  /** Resolves when `work` CPU ms are done for this request. What the handling of a request costs counts as work. */
  run(work: number): Promise<void> {
    this.#settle()
    return new Promise((done) => {
      this.#waiting.push({ left: Math.max(0, work - this.#overhead), done })
      if (this.#waiting.length === 1) this.#schedule()
    })
  }

  usage(): Usage {
    this.#settle()
    const lost = this.#requests.lost + (this.#job?.lost ?? 0)
    return { cpu: cpuTime(), secondJob: this.#jobCpu, lost, served: this.#served, time: performance.now() }
  }

  #turn(): void {
    this.#settle()
    const job = this.#job
    if (job !== undefined && job.level >= SLICE) {
      const used = this.#work(SLICE)
      job.spend(used)
      this.#jobCpu += used
    }
    const task = this.#waiting[0]
    if (task !== undefined) {
      const slice = Math.min(SLICE, task.left)
      if (this.#requests.level >= slice) {
        if (slice > 0) {
          const used = this.#work(slice)
          this.#requests.spend(used)
          task.left -= used
        }
        if (task.left <= 0) this.#finish(task)
      }
    }
    this.#schedule()
  }

  #finish(task: Task): void {
    this.#waiting.shift()
    this.#served++
    this.#overhead += (this.#overheadNow - this.#overhead) * GAIN
    this.#overheadNow = 0
    task.done()
  }

  // Takes in the budgets, and charges what the process used beside its slices to the requests.
  #settle(): void {
    const now = performance.now()
    this.#requests.accrue(now, this.#waiting.length > 0)
    this.#job?.accrue(now, true)
    const cpu = cpuTime()
    this.#requests.spend(cpu - this.#cpuSeen)
    this.#overheadNow += cpu - this.#cpuSeen
    this.#cpuSeen = cpu
  }

  #work(ms: number): number {
    this.#settle()
    const used = burn(ms)
    this.#cpuSeen += used
    return used
  }

  #schedule(): void {
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer as NodeJS.Timeout)
      clearImmediate(this.#timer as NodeJS.Immediate)
      this.#timer = undefined
    }
    let wait = this.#job?.waitFor(SLICE) ?? Number.POSITIVE_INFINITY
    const task = this.#waiting[0]
    if (task !== undefined) wait = Math.min(wait, this.#requests.waitFor(Math.min(SLICE, task.left)))
    if (wait === Number.POSITIVE_INFINITY) return
    const turn = () => {
      this.#timer = undefined
      this.#turn()
    }
    this.#timer = wait > 0 ? setTimeout(turn, Math.ceil(wait)) : setImmediate(turn)
  }
}
