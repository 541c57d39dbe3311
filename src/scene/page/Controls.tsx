/** What the visitor sets. */
export function Controls() {
  return <p>Controls</p>
}
