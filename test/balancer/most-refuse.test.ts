// Where most of the nodes refuse connections, callers hardly notice.
import test from 'ava'
import { type Algorithm, createBalancer } from '../../dist/index.js'
import { VirtualClock } from '../../dist/simulation/virtual-clock.js'
import { everyAlgorithm, optionsFor, takesKeys } from '../support/algorithms.js'
import { engines } from '../support/engines.js'

const refusal = () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
  return new TypeError('fetch failed', { cause })
}

/** How many of 3,200 calls are lost after the first 3 s, at 100 a second; and whether all but one node are ejected then. */
async function lostBy(algorithm: Algorithm, size: number, engine: 'native' | 'portable') {
  const clock = new VirtualClock()
  const nodes = Array.from({ length: size }, (_, i) => `n${i}`)
  const balancer = createBalancer({ ...optionsFor(algorithm, nodes), clock, engine })
  let lost = 0
  // Past the first return of those that were ejected.
  for (let sent = 0; sent < 3_500; sent += 25) {
    const answered = new Promise<void>((resolve) => clock.setTimeout(resolve, 4))
    const work = async (node: string) => {
      if (node !== 'n0') throw refusal()
      await answered
    }
    const calls = Array.from({ length: 25 }, (_, i) => {
      const options = takesKeys(algorithm) ? { key: `key ${sent + i}`, attempts: 2 } : { attempts: 2 }
      return balancer.run(work, options).catch(() => {
        if (sent >= 300) lost++
      })
    })
    await clock.advance(250)
    await Promise.all(calls)
  }
  const alone = balancer.snapshot().every(({ id, ejected }) => (ejected === undefined) === (id === 'n0'))
  await balancer.close()
  return { lost, alone }
}

for (const [name, algorithm] of everyAlgorithm) {
  test(`${name}: where all nodes but one refuse connections, at most 2 % of the calls of run() are lost after 3 s`, async (t) => {
    for (const engine of engines) {
      for (const size of [3, 4, 8]) {
        const { lost, alone } = await lostBy(algorithm, size, engine)
        t.true(lost <= 3_200 * 0.02, `${engine}, ${size} nodes: ${lost} lost`)
        t.true(alone, `${engine}, ${size} nodes: ejected`)
      }
    }
  })
}
