import { spawn } from 'node:child_process'

/** What opens a URL in the browser that somebody uses, by platform. */
function opener(): readonly [file: string, ...args: string[]] {
  if (process.platform === 'darwin') return ['open']
  // Not `start`, which is cmd's own, and cmd reads characters of a URL as its own too.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return ['xdg-open']
}

/**
 * Opens a URL in the browser, and does not wait for it.
 * @returns false where the platform's opener could not be started, or ended saying that it failed
 */
export async function openInBrowser(url: string): Promise<boolean> {
  const [file, ...args] = opener()
  const child = spawn(file, [...args, url], { stdio: 'ignore', detached: true })
  // It may live as long as the browser does.
  child.unref()
  return new Promise((resolve) => {
    child.on('error', () => resolve(false))
    child.on('exit', (code) => resolve(code === 0))
  })
}
