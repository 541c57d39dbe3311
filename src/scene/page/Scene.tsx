import { Charts } from './Charts.js'
import { Controls } from './Controls.js'
import { Drawing } from './Drawing.js'

/** The running scene: holds what the visitor has set and the player, and hands them to its parts. */
export function Scene() {
  return (
    <section id="scene" aria-labelledby="scene-title">
      <h2 id="scene-title">The scene</h2>
      <Controls />
      <Drawing />
      <Charts />
    </section>
  )
}
