/**
 * Shows one line for a piece of work: `building… 28 s`.
 * @template T
 * @param {string} title
 * @param {() => Promise<T>} task
 * @returns {Promise<T>}
 */
export async function progress(title, task) {
  const start = performance.now()
  process.stdout.write(`${title}…`)
  try {
    return await task()
  } finally {
    process.stdout.write(` ${Math.max(1, Math.round((performance.now() - start) / 1000))} s\n`)
  }
}

/** How work tells a person what it does. */
export const terminal = {
  progress,
  /** @param {string} text */
  error: (text) => console.error(text),
}
