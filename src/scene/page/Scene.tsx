import './scene.css'
import { scenePolicies } from '../model/inputs.js'
import type { Player } from '../model/player.js'
import { Announcer } from './Announcer.js'
import { Charts } from './Charts.js'
import { Controls } from './Controls.js'
import { Drawing } from './Drawing.js'
import { RunFigures, ServersTable } from './Figures.js'
import { Fleet } from './Fleet.js'
import { Keys } from './Keys.js'
import { Legend } from './Legend.js'
import { Policies } from './Policies.js'
import { type Linked, usePlayed } from './player.js'
import { Transport } from './Transport.js'

/** The running scene: a player of what the link says, and its parts. */
export function Scene({ player, ignored }: Linked) {
  return (
    <section id="scene" class="scene" aria-labelledby="scene-title">
      <h2 id="scene-title" class="visually-hidden">
        The scene
      </h2>
      {ignored.length > 0 && (
        <p role="alert" class="ignored">
          Not understood in the link, and left out: {ignored.join(', ')}.
        </p>
      )}
      <Policies player={player} />
      <Runs player={player} />
      <Transport player={player} />
      <Fleet player={player} />
      <Legend player={player} />
      <Controls player={player} />
      <Charts player={player} />
      <ServersTable player={player} />
      <Keys player={player} />
      <Announcer player={player} />
    </section>
  )
}

function Runs({ player }: { player: Player }) {
  const runs = usePlayed(player, () => player.runs)
  return (
    <div class="runs">
      {runs.map(({ policy }, which) => (
        <section key={which} class="run" aria-label={scenePolicies[policy].title} data-run={policy}>
          <header>
            <h3>{scenePolicies[policy].title}</h3>
            <p>{scenePolicies[policy].about}</p>
          </header>
          <Drawing player={player} which={which} />
          <RunFigures player={player} which={which} />
        </section>
      ))}
    </div>
  )
}
