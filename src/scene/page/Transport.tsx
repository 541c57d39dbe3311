import { RUN_LENGTH } from '../model/inputs.js'
import { type Player, SKIP, STEP } from '../model/player.js'
import { clockTime, span } from '../model/words.js'
import { Knob } from './Knob.js'
import { useTicks } from './player.js'

/** Play, pause and the like: what moves the run through its time. */
export function Transport({ player }: { player: Player }) {
  useTicks(player)
  const { playing, over, time, inputs } = player
  return (
    <fieldset class="transport">
      <legend class="visually-hidden">Time of the run</legend>
      <button type="button" class="primary" onClick={() => player.toggle()} disabled={over}>
        <Icon path={playing ? 'M3 2h3.5v12H3zM9.500 2H13v12H9.500z' : 'M4 2l10 6-10 6z'} />
        {playing ? 'Pause' : 'Play'}
      </button>
      <button type="button" onClick={() => player.step()} disabled={over}>
        <Icon path="M3 2l7 6-7 6zM11 2h2.500v12H11z" />
        Step {span(STEP)}
      </button>
      <button type="button" onClick={() => player.skip()} disabled={over}>
        <Icon path="M2 2l6 6-6 6zM8 2l6 6-6 6z" />
        Skip {span(SKIP)}
      </button>
      <button type="button" onClick={() => player.restart()}>
        <Icon path="M8 3a5 5 0 1 0 5 5h-2a3 3 0 1 1-3-3v2l4-3-4-3z" />
        Restart
      </button>
      <Knob
        label="Speed"
        stops={[0.1, 0.2, 0.5, 1, 2, 5, 10, 20]}
        value={inputs.speed}
        format={(value) => `${value} ×`}
        onSet={(speed) => player.set({ speed })}
      />
      <p class="clock">
        <b id="time">{clockTime(time)}</b> of {clockTime(RUN_LENGTH)}
        {over ? ', at the end' : ''}
      </p>
    </fieldset>
  )
}

function Icon({ path }: { path: string }) {
  return (
    <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={path} fill="currentColor" />
    </svg>
  )
}
