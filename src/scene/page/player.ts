import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { Inputs } from '../model/inputs.js'
import { fromLink, toLink } from '../model/link.js'
import { Player } from '../model/player.js'

const frames = {
  request: (callback: (now: number) => void) => requestAnimationFrame(callback),
  cancel: (request: number) => cancelAnimationFrame(request),
  now: () => performance.now(),
}

const REDUCED = '(prefers-reduced-motion: reduce)'

/** What the page's link set when it was last read, and what of it counted for nothing. */
export interface Linked {
  readonly player: Player
  readonly ignored: readonly string[]
}

/**
 * A player of what the page's link says; it plays at once where the visitor does not mind motion. It writes the link
 * when its inputs change, and reads it when somebody else changes it.
 */
export function useLinkedPlayer(): Linked {
  const [start] = useState(() => {
    const { inputs, ignored } = fromLink(location.hash)
    return { player: new Player(inputs, frames), ignored }
  })
  const [ignored, setIgnored] = useState(start.ignored)
  const { player } = start

  useEffect(() => {
    const read = () => {
      if (location.hash === toLink(player.inputs)) return
      const link = fromLink(location.hash)
      player.set(link.inputs)
      setIgnored(link.ignored)
    }
    let written = player.inputs
    const write = () => {
      // A link that was read stays as it is until something is set.
      if (player.inputs === written) return
      written = player.inputs
      setIgnored([])
      const hash = toLink(player.inputs)
      history.replaceState(null, '', `${location.pathname}${location.search}${hash}`)
    }
    addEventListener('hashchange', read)
    const stop = player.onTick(write)
    if (!matchMedia(REDUCED).matches) player.play()
    return () => {
      removeEventListener('hashchange', read)
      stop()
      player.pause()
    }
  }, [player])

  return { player, ignored }
}

/** Draws the component again whenever the player has something new to show. */
export function useTicks(player: Player): void {
  const [, again] = useReducer((ticks: number) => ticks + 1, 0)
  useEffect(() => player.onTick(() => again(undefined)), [player])
}

/** What the visitor has set; draws the component again when it changes. */
export function useInputs(player: Player): Inputs {
  return usePlayed(player, () => player.inputs)
}

/** What is read from a player; draws the component again when that is another. */
export function usePlayed<T>(player: Player, read: () => T): T {
  const [value, setValue] = useState(read)
  const latest = useRef(read)
  latest.current = read
  useEffect(() => player.onTick(() => setValue(latest.current)), [player])
  return value
}

/** Whether the visitor wants nothing to move. */
export function useStillness(): boolean {
  const [still, setStill] = useState(() => matchMedia(REDUCED).matches)
  useEffect(() => {
    const query = matchMedia(REDUCED)
    const follow = () => setStill(query.matches)
    query.addEventListener('change', follow)
    return () => query.removeEventListener('change', follow)
  }, [])
  return still
}
