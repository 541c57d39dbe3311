import test from 'ava'
import { nodeComplaint, older } from '../../.ci/node-version.mjs'

test('an old Node is told which one is needed', (t) => {
  const complaint = nodeComplaint('18.20.4', '>=20.19')
  t.regex(complaint ?? '', /needs Node 20\.19 or later, but this is Node 18\.20\.4/)
})

test('a Node that is new enough is accepted', (t) => {
  for (const version of ['20.19.0', '20.20.2', '22.0.0', '26.12.0'])
    t.is(nodeComplaint(version, '>=20.19'), undefined, version)
})

test('versions compare part by part as numbers', (t) => {
  t.true(older('20.9.0', '20.19'))
  t.true(older('1.94.1', '1.95'))
  t.false(older('1.95.0', '1.95'))
  t.false(older('1.100.0', '1.95'))
  t.false(older('2.0.0', '1.95'))
  t.true(older('1.95.0', '1.95.1'))
})
