import { useEffect, useRef, useState } from 'preact/hooks'
import { scenePolicies } from '../model/inputs.js'
import type { Player } from '../model/player.js'
import { lossOf, spokenState } from '../model/words.js'

/** Says what has happened, for those who do not see it: seldom, and nothing while all goes on as before. */
export function Announcer({ player }: { player: Player }) {
  const [said, say] = useState('')
  const last = useRef({ playing: player.playing, runs: player.runs, time: player.time })
  useEffect(
    () =>
      player.onTick(() => {
        if (player.skipping) return
        const { playing, runs, time, inputs, over } = player
        const before = last.current
        last.current = { playing, runs, time }
        const state = () => runs.map(spokenState).join(' ')
        if (runs !== before.runs && time === 0) {
          say(`${runs.map(({ policy }) => scenePolicies[policy].title).join(' beside ')}, from the start.`)
        } else if (over && before.playing) say(`The run is over. ${state()}`)
        else if (before.playing && !playing) say(`Paused. ${state()}`)
        else if (!before.playing && playing) say('Playing.')
        else if (!playing && time > before.time) say(state())
        else if (before.time < inputs.lostAt && time >= inputs.lostAt) say(lossOf(inputs) ?? '')
      }),
    [player],
  )
  return (
    <p class="visually-hidden" role="status">
      {said}
    </p>
  )
}
