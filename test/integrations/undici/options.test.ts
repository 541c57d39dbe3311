import test from 'ava'
import { createBalancer, OptionError } from '../../../dist/index.js'
import { BalancedDispatcher } from '../../../dist/integrations/undici/index.js'

const balancer = createBalancer({ poll: false })

const bad: [string, string, unknown][] = [
  ['retries', 'retries', {}],
  ['for', 'for', 'service.local'],
  ['for', 'for', 'http://service.local/path'],
  ['for', 'for', ['http://a', 'ftp://b']],
  ['for', 'for', 5],
  ['for', 'for', []],
  ['for', 'for', 'http://name:word@service.local'],
  ['for', 'for', 'http://service.local#part'],
  ['otherwise', 'otherwise', {}],
  ['origins', 'origins', 'http://a'],
  ['key', 'key', 'path'],
  ['pool', 'pool', 5],
  ['pool', 'pool', { connections: -1 }],
  ['pool', 'pool', { headersTimeout: -1 }],
  ['factory', 'factory', {}],
  ['isFailure', 'isFailure', [500]],
  ['stripHeader', 'stripHeader', 1],
  ['retry', 'retry', true],
  ['retry', 'retry.attempts', { attempts: 0 }],
  ['retry', 'retry.attemps', { attemps: 2 }],
  ['retry', 'retry.statuses.0', { statuses: ['503'] }],
  ['retry', 'retry.on.0', { on: ['abort'] }],
  ['retry', 'retry.methods', { methods: 'GET' }],
  ['retry', 'retry.timeout', { timeout: 0 }],
  ['retry', 'retry.budget', { budget: 1.1 }],
]

for (const [name, option, value] of bad) {
  test(`${option} ${JSON.stringify(value)} is refused`, (t) => {
    const error = t.throws(() => new BalancedDispatcher(balancer, { [name]: value }), {
      instanceOf: OptionError,
    })
    t.is(error?.option, option)
  })
}

test('what is no balancer is refused', (t) => {
  for (const wrong of [undefined, null, {}, 'balancer', { acquire: () => {} }]) {
    const error = t.throws(() => new BalancedDispatcher(wrong as never), { instanceOf: OptionError })
    t.is(error?.option, 'balancer')
  }
})
