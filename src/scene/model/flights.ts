/** Dots under way at most; where there would be more, the others are not drawn. */
export const MOST_FLIGHTS = 500

/** One dot on its way over the drawing. */
export interface Flight {
  server: number
  balancer: number
  /** How far it is, 0-1. */
  progress: number
  /** Where it is across its way, -1 to 1, so that dots do not hide each other. */
  lane: number
}

// The golden ratio's fraction: one after the other, numbers spread evenly.
const SPREAD = (Math.sqrt(5) - 1) / 2

/** The dots that are under way. */
export class Flights {
  readonly list: Flight[] = []
  #launched = 0

  launch(server: number, balancer: number): void {
    if (this.list.length >= MOST_FLIGHTS) return
    const lane = ((this.#launched++ * SPREAD) % 1) * 2 - 1
    this.list.push({ server, balancer, progress: 0, lane })
  }

  /** Moves all of them on by a share of their way; those that are there are gone. */
  move(share: number): void {
    let kept = 0
    for (const flight of this.list) {
      flight.progress += share
      if (flight.progress < 1) this.list[kept++] = flight
    }
    this.list.length = kept
  }

  clear(): void {
    this.list.length = 0
  }
}

/** Dots that are under way together, at so many requests per second, requests a dot and virtual seconds per second. */
export function expectedFlights(rate: number, dot: number, speed: number): number {
  return ((rate * speed) / dot) * (flightTime(speed) / 1000)
}

/** ms on the screen from users to server, at `speed` virtual seconds per second: slower or faster, but to be seen. */
export function flightTime(speed: number): number {
  return 1_300 / Math.sqrt(speed)
}
