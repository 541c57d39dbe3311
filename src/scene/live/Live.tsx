/** A running balancer and its nodes. */
export function Live() {
  return (
    <main>
      <h1>idlest</h1>
    </main>
  )
}
