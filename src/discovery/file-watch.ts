import { type FSWatcher, watch } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Watches the folders that a file is found through: the one where its path says it is, in which it is replaced, and the
 * one where it really is. Files themselves would be lost with the first rename.
 */
export class FolderWatch {
  readonly #path: string
  readonly #onEvent: () => void
  // By which folder it is: one that was made anew is another.
  #watchers = new Map<string, FSWatcher>()
  #isClosed = false

  constructor(path: string, onEvent: () => void) {
    this.#path = path
    this.#onEvent = onEvent
  }

  /** Looks for the folders as they are now. What can't be watched is looked at now and then anyway. */
  async renew(): Promise<void> {
    const folders = new Set([dirname(this.#path)])
    await realpath(this.#path).then(
      (real) => folders.add(dirname(real)),
      () => {},
    )
    const wanted = new Map<string, string>()
    for (const folder of folders) {
      const key = await stat(folder).then(
        ({ dev, ino }) => `${dev}:${ino}`,
        () => undefined,
      )
      if (key !== undefined) wanted.set(key, folder)
    }
    if (this.#isClosed) return
    for (const [key, watcher] of this.#watchers) {
      if (wanted.has(key)) continue
      watcher.close()
      this.#watchers.delete(key)
    }
    for (const [key, folder] of wanted) if (!this.#watchers.has(key)) this.#open(key, folder)
  }

  close(): void {
    this.#isClosed = true
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  #open(key: string, folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#onEvent())
      const drop = () => {
        watcher.close()
        if (this.#watchers.get(key) === watcher) this.#watchers.delete(key)
      }
      watcher.on('error', drop)
      this.#watchers.set(key, watcher)
    } catch {
      // Too many are watched on this machine, or the folder is gone again.
    }
  }
}
