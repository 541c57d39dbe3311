import { readFile, stat } from 'node:fs/promises'
import type { DiscoveryProblem } from '../balancer/node-source.js'
import type { Clock, TimerHandle } from '../clock.js'
import { reasonOf } from '../errors.js'
import { type FileContent, type FileNode, readNodes } from './file-format.js'
import { FolderWatch } from './file-watch.js'
import type { Finder, Look } from './finder.js'
import { keptOf } from './found.js'

export interface FileFinderOptions {
  readonly path: string
  /** Longest time between two looks whether the file is another, ms. */
  readonly interval: number
  /** How long it has to stay as it is before it is read, ms. */
  readonly settle: number
  readonly clock: Clock
  readonly onLook: (look: Look<FileNode>) => void
}

/** How long a list of lines has to stay as it is whose last line has no end: it may be half of one, ms. */
const UNENDED = 1_000

/** Reads a file when it was changed, once it has stayed as it is for a moment. */
export class FileFinder implements Finder {
  readonly #options: FileFinderOptions
  #watch: FolderWatch | undefined
  #timer: TimerHandle
  // When the timer fires, by the clock.
  #due = Number.POSITIVE_INFINITY
  #nodes: readonly FileNode[] = []
  // What the file was like at the last look, and since when; and when it was read or found not to be readable.
  #seen = ''
  #since = 0
  #done: string | undefined
  // Steps at each start, so that what was under way before is left.
  #run = 0
  #isLooking = false

  constructor(options: FileFinderOptions) {
    this.#options = options
  }

  start(): void {
    this.#run++
    this.#watch = new FolderWatch(this.#options.path, () => this.#lookIn(this.#options.settle))
    this.#isLooking = false
    this.#look()
  }

  hasten(): void {
    this.#lookIn(0)
  }

  stop(): void {
    this.#run++
    this.#options.clock.clearTimeout(this.#timer)
    this.#due = Number.POSITIVE_INFINITY
    this.#watch?.close()
    this.#watch = undefined
  }

  close(): void {
    this.stop()
  }

  // At most that long from now.
  #lookIn(wait: number): void {
    const { clock } = this.#options
    const due = clock.now() + wait
    if (this.#watch === undefined || due >= this.#due) return
    clock.clearTimeout(this.#timer)
    this.#due = due
    this.#timer = clock.setTimeout(() => this.#look(), wait)
  }

  async #look(): Promise<void> {
    this.#due = Number.POSITIVE_INFINITY
    // Whoever is looking sees it, or will look again.
    if (this.#isLooking) {
      this.#lookIn(this.#options.settle)
      return
    }
    this.#isLooking = true
    const run = this.#run
    await this.#watch?.renew()
    const wait = await this.#check(run)
    if (run !== this.#run) return
    this.#isLooking = false
    this.#lookIn(wait)
  }

  // Returns how long to wait until the next look.
  async #check(run: number): Promise<number> {
    const { clock, interval, settle } = this.#options
    const stamp = await this.#stamp()
    if (run !== this.#run || stamp === this.#done) return interval
    const now = clock.now()
    if (stamp !== this.#seen) {
      this.#seen = stamp
      this.#since = now
    }
    const wait = this.#since + settle - now
    return wait > 0 ? wait : this.#read(run, stamp)
  }

  async #read(run: number, stamp: string): Promise<number> {
    const { path, clock, interval, settle } = this.#options
    let text: string | undefined
    let content: FileContent | undefined
    let problem: unknown
    try {
      // A pipe would hold one of libuv's threads until somebody writes to it.
      if (!(await stat(path)).isFile()) throw new Error('it is not a regular file')
      text = await readFile(path, 'utf8')
      content = readNodes(text, path.endsWith('.json'))
    } catch (error) {
      problem = error
    }
    if (run !== this.#run) return interval
    // It was changed while it was read.
    if ((await this.#stamp()) !== stamp) return settle
    if (run !== this.#run) return interval
    const wait = this.#since + UNENDED - clock.now()
    if (content?.isEnded === false && content.nodes.length > 0 && wait > 0) return wait
    this.#done = stamp
    this.#tell(text, content, problem)
    return interval
  }

  #tell(text: string | undefined, content: FileContent | undefined, error: unknown): void {
    const { path, onLook } = this.#options
    if (content !== undefined && content.nodes.length > 0) {
      this.#nodes = keptOf(this.#nodes, content.nodes)
      onLook({ nodes: this.#nodes })
      return
    }
    const kind = content === undefined ? kindOf(text, error) : 'empty'
    const reason = kind === 'empty' ? `no node in ${path}` : `${path} can't be read: ${reasonOf(error)}`
    onLook({ problems: [{ kind, reason, error }] })
  }

  // What changes when the file does.
  async #stamp(): Promise<string> {
    try {
      const { dev, ino, size, mtimeNs } = await stat(this.#options.path, { bigint: true })
      return `${dev} ${ino} ${size} ${mtimeNs}`
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    }
  }
}

function kindOf(text: string | undefined, error: unknown): DiscoveryProblem {
  if (text !== undefined) return 'invalid'
  return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'notFound' : 'failed'
}
