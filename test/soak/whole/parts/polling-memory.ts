import { BroadcastChannel, type Worker } from 'node:worker_threads'

/** Longest that a thread takes to say what it uses, on a busy machine, ms. */
const LONGEST = 60_000
/** Between two times that it is asked, ms: one that has just begun may not listen yet. */
const AGAIN = 5_000

/** What polling threads have in use: the soak's way into them is the program that they load first, `used.mjs`. */
export class PollingMemory {
  readonly #channel = new BroadcastChannel('soak: used')

  /** Has all of them collect their garbage; bytes that this one has in use then. Rejects where it is no more. */
  used({ threadId }: Worker): Promise<number> {
    return new Promise((resolve, reject) => {
      const ask = () => this.#channel.postMessage('collect')
      const again = setInterval(ask, AGAIN)
      const timer = setTimeout(() => {
        clearInterval(again)
        reject(new Error(`polling thread ${threadId} does not say what it uses`))
      }, LONGEST)
      this.#channel.onmessage = ({ data }: { data: { thread?: number; used: number } }) => {
        if (data.thread !== threadId) return
        clearInterval(again)
        clearTimeout(timer)
        resolve(data.used)
      }
      ask()
    })
  }

  close(): void {
    this.#channel.close()
  }
}
