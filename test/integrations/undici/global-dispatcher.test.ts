import test from 'ava'
import { getGlobalDispatcher, setGlobalDispatcher, fetch as undiciFetch } from 'undici/index.js'
import { named, over } from './servers.js'

test("as the global dispatcher it balances every fetch, also Node's own", async (t) => {
  const other = await named(t, 'other')
  const { dispatcher, outcomes } = over(t, [await named(t, 'a'), await named(t, 'b')], {
    for: 'http://service.local',
  })
  const before = getGlobalDispatcher()
  setGlobalDispatcher(dispatcher)
  t.teardown(() => setGlobalDispatcher(before))
  t.is(await (await fetch('http://service.local/')).text(), 'a')
  t.is(await (await undiciFetch('http://service.local/')).text(), 'b')
  t.is(await (await fetch(`http://${other.id}/`)).text(), 'other')
  t.deepEqual(outcomes(), [
    [1, 0],
    [1, 0],
  ])
})
