import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** How many columns there is room for, from the fewest on. */
const ROOMS = ['phone', 'tablet', 'desk', 'wide'] as const

/** A column is shown in a table of this room and of any larger one. */
export type Room = (typeof ROOMS)[number]

/**
 * The largest room in which the table fits its box without scrolling sideways. It measures the table instead of
 * assuming a width, because that depends on the font, on the algorithm's columns and on the values.
 */
export function useRoom(box: { readonly current: HTMLElement | null }): Room {
  const [level, setLevel] = useState<number>(ROOMS.length - 1)
  /** The width that the table had at a level at which it did not fit, px. */
  const needed = useRef<number[]>([])

  function fit(): void {
    const element = box.current
    if (element === null) return
    const { scrollWidth, clientWidth } = element
    if (scrollWidth > clientWidth) {
      needed.current[level] = scrollWidth
      if (level > 0) setLevel(level - 1)
    } else if (level < ROOMS.length - 1 && clientWidth >= (needed.current[level + 1] ?? 0)) {
      setLevel(level + 1)
    }
  }

  const latest = useRef(fit)
  latest.current = fit
  // Each view can have wider values.
  useLayoutEffect(fit)
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const observer = new ResizeObserver(() => latest.current())
    observer.observe(element)
    return () => observer.disconnect()
  }, [box])
  return ROOMS[level] ?? 'phone'
}
