import { Estimate } from './Estimate.js'
import { Jump } from './Jump.js'
import { useLinkedPlayer } from './player.js'
import { Elsewhere } from './prose/Elsewhere.js'
import { Formulas } from './prose/Formulas.js'
import { Inputs } from './prose/Inputs.js'
import { Limits } from './prose/Limits.js'
import { Reading } from './prose/Reading.js'
import { Scene } from './Scene.js'

const parts = [
  ['scene', 'The scene'],
  ['estimate', 'The estimate'],
  ['inputs', 'The inputs'],
  ['formulas', 'The formulas'],
  ['limits', 'The limits'],
  ['elsewhere', 'HAProxy and gRPC'],
] as const

/** The scene page: what runs, what a fleet of it would take, and what to know about both. */
export function App() {
  const linked = useLinkedPlayer()
  const { player } = linked
  return (
    <>
      <Jump class="skip visually-hidden" to="main">
        Skip to the scene
      </Jump>
      <header class="masthead">
        <div class="bar">
          <p class="wordmark">
            <img src="icon.svg" alt="" width="26" height="26" />
            idlest
          </p>
          <nav aria-label="On this page">
            <ul>
              {parts.map(([id, title]) => (
                <li key={id}>
                  <Jump to={id}>{title}</Jump>
                </li>
              ))}
            </ul>
          </nav>
        </div>
        <div class="opening">
          <h1>Which server gets the next request?</h1>
          <p class="lead">
            Servers report how busy they are, a little late. Choose a policy: the run restarts with the same
            requests.
          </p>
        </div>
      </header>
      <main id="main">
        <Scene {...linked} />
        <Reading />
        <Estimate player={player} />
        <Inputs />
        <Formulas />
        <Limits />
        <Elsewhere />
      </main>
      <footer class="colophon">
        <p>
          What runs here is idlest's own portable engine, in virtual time; nothing leaves this page. Made with
          Preact and uPlot (<a href="licenses.txt">licenses</a>).
        </p>
      </footer>
    </>
  )
}
