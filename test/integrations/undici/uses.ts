// The documented uses of the dispatcher, with the types of either major of undici.
import { Writable } from 'node:stream'
import type { BalancedDispatcher } from '../../../dist/integrations/undici/index.js'

const url = 'http://service.local/'

export async function usesOf7(
  undici: typeof import('undici'),
  dispatcher: BalancedDispatcher<string>,
): Promise<string[]> {
  const fetched = await undici.fetch(url, { dispatcher })
  const requested = await undici.request(url, { dispatcher })
  const retried = await undici.request(url, { dispatcher: dispatcher.compose(undici.interceptors.retry()) })
  const before = undici.getGlobalDispatcher()
  undici.setGlobalDispatcher(dispatcher)
  const global = await undici.request(url)
  undici.setGlobalDispatcher(before)
  let streamed = ''
  await undici.stream(url, { dispatcher, method: 'GET' }, () => writable((text) => (streamed += text)))
  const texts = [fetched.text(), requested.body.text(), retried.body.text(), global.body.text()]
  return [...(await Promise.all(texts)), streamed]
}

// The same lines: what differs are the types.
export async function usesOf8(
  undici: typeof import('undici8'),
  dispatcher: BalancedDispatcher<string>,
): Promise<string[]> {
  const fetched = await undici.fetch(url, { dispatcher })
  const requested = await undici.request(url, { dispatcher })
  const retried = await undici.request(url, { dispatcher: dispatcher.compose(undici.interceptors.retry()) })
  const before = undici.getGlobalDispatcher()
  undici.setGlobalDispatcher(dispatcher)
  const global = await undici.request(url)
  undici.setGlobalDispatcher(before)
  let streamed = ''
  await undici.stream(url, { dispatcher, method: 'GET' }, () => writable((text) => (streamed += text)))
  const texts = [fetched.text(), requested.body.text(), retried.body.text(), global.body.text()]
  return [...(await Promise.all(texts)), streamed]
}

function writable(take: (text: string) => void): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      take(String(chunk))
      done()
    },
  })
}
