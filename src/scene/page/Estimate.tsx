/** The size of a fleet, step by step. */
export function Estimate() {
  return (
    <section id="estimate" aria-labelledby="estimate-title">
      <h2 id="estimate-title">The estimate</h2>
    </section>
  )
}
