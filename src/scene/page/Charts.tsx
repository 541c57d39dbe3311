/** p99 and queues over time. */
export function Charts() {
  return <p>Charts</p>
}
