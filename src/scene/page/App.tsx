import { Estimate } from './Estimate.js'
import { Scene } from './Scene.js'

/** The scene page: what runs, what it would take, and what to know about it. */
export function App() {
  return (
    <>
      <header class="masthead">
        <h1>idlest</h1>
      </header>
      <main>
        <Scene />
        <Estimate />
      </main>
    </>
  )
}
