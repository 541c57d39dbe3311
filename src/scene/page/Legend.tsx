import { count } from '../../format.js'
import { expectedFlights, MOST_FLIGHTS } from '../model/flights.js'
import type { Player } from '../model/player.js'
import { useInputs } from './player.js'

/** What the marks of the drawing mean. */
export function Legend({ player }: { player: Player }) {
  const { dot, speed } = useInputs(player)
  const isTooMany = expectedFlights(player.rate, dot, speed) > MOST_FLIGHTS
  const each = dot === 1 ? 'a request' : `${count(dot)} requests`
  return (
    <ul class="legend">
      <li>
        <svg width="14" height="14" aria-hidden="true">
          <circle cx="7" cy="7" r="5" fill="var(--ink-soft)" />
        </svg>
        {each}, on the way or waiting
        {isTooMany && '; some on the way are left out, there are too many'}
      </li>
      <li>
        <svg width="14" height="14" aria-hidden="true">
          <path d="M7 1l6 6-6 6-6-6z" fill="none" stroke="var(--ink-soft)" stroke-width="1.5" />
        </svg>
        a report, on its way back
      </li>
      <li>
        <svg width="30" height="14" aria-hidden="true">
          <rect y="1" width="30" height="12" rx="3" fill="var(--line)" />
          <rect y="1" width="18" height="12" rx="3" fill="var(--ink-soft)" />
        </svg>
        busy: share of the last second spent serving
      </li>
      <li>
        <svg width="30" height="14" aria-hidden="true">
          <rect x="0.5" y="4.5" width="29" height="5" rx="2.5" fill="none" stroke="var(--line-strong)" />
          <rect y="4" width="18" height="6" rx="3" fill="var(--ink-soft)" />
          <path d="M23 0v14" stroke="var(--ink)" stroke-width="2" />
        </svg>
        CPU as last told, other work included; the stroke is where it is now
      </li>
    </ul>
  )
}
