/** Stands in for `warn.js`. */
export function warn(message: string, code: string): void {
  console.warn(`${code}: ${message}`)
}
