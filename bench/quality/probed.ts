/** Requests that a server's answer to a probe is about: the last so many that it has answered. */
const KEPT = 32

/** Those of them that came at a load like the present one. */
const NEAR = 8

/** What a probe finds. */
export interface Found {
  /** Requests at the server now. */
  readonly inFlight: number
  /** Median time that requests took which found about as many there, ms; 0 where none is known. */
  readonly latency: number
}

interface Answered {
  readonly found: number
  readonly latency: number
}

/** What servers would answer to probes: a record of all balancers' requests, exact where the network has no delay. */
export class Probed {
  readonly #inFlight: Int32Array
  readonly #answered: Answered[][]
  // By request: how many it found at its server.
  readonly #found = new Map<number, number>()

  constructor(servers: number) {
    this.#inFlight = new Int32Array(servers)
    this.#answered = Array.from({ length: servers }, () => [])
  }

  begin(request: number, server: number): void {
    const inFlight = this.#inFlight[server] as number
    this.#found.set(request, inFlight)
    this.#inFlight[server] = inFlight + 1
  }

  end(request: number, server: number, ok: boolean, latency: number): void {
    this.#inFlight[server] = (this.#inFlight[server] as number) - 1
    const answered = this.#answered[server] as Answered[]
    if (ok) answered.push({ found: this.#found.get(request) ?? 0, latency })
    if (answered.length > KEPT) answered.shift()
    this.#found.delete(request)
  }

  look(server: number): Found {
    const inFlight = this.#inFlight[server] as number
    const away = ({ found }: Answered) => Math.abs(found - inFlight)
    const near = [...(this.#answered[server] as Answered[])].sort((a, b) => away(a) - away(b)).slice(0, NEAR)
    // Scaled to the present load: a server that emptied would else keep the times of its worst moment.
    const times = near
      .map(({ found, latency }) => (latency * (inFlight + 1)) / (found + 1))
      .sort((a, b) => a - b)
    return { inFlight, latency: times[Math.floor(times.length / 2)] ?? 0 }
  }
}
