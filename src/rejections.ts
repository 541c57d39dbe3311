/**
 * What a callback that idlest calls and does not wait for may return: anything but a promise. An async function does not
 * fit: nobody would wait for it, and nobody would learn that it failed.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: with `void` alone async functions would fit.
export type NotAsync = void | undefined | null | boolean | number | string

/**
 * Takes what a callback returned that must not be async. A promise of it that rejects would end the process: it is told
 * here in place of that.
 */
export function catchRejection(returned: unknown, onReject: (error: unknown) => void): void {
  if (typeof returned !== 'object' || returned === null) return
  Promise.resolve(returned).then(undefined, onReject)
}

/** As {@link catchRejection}, where it is reported already that a promise is no good answer. */
export function ignoreRejection(returned: unknown): void {
  catchRejection(returned, () => {})
}

/** Whether a callback that decides something said yes. A promise decides nothing: it counts as no, and may reject. */
export function isYes(returned: unknown): boolean {
  if (typeof returned !== 'object') return Boolean(returned)
  ignoreRejection(returned)
  return false
}
