import test from 'ava'
import { countCollections } from '../../bench/figures/gc.js'
import { full } from '../../bench/settings.js'
import { engines } from '../support/engines.js'

for (const engine of engines) {
  test(`ten million picks by the ${engine} engine cause no garbage collection`, async (t) => {
    const { cases } = await countCollections(engine, full.gc)
    t.deepEqual(
      cases.map(({ name, picks, collections }) => ({ name, picks, collections })),
      ['select', 'sameArray', 'fill'].map((name) => ({ name, picks: 10_000_000, collections: 0 })),
    )
  })
}
