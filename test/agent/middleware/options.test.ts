import test from 'ava'
import {
  createAgent,
  expressMiddleware,
  fastifyMiddleware,
  httpMiddleware,
  koaMiddleware,
  type LoadSource,
  type MiddlewareOptions,
} from '../../../dist/agent/index.js'
import { OptionError } from '../../../dist/errors.js'
import { fakeAgent } from './support.js'

const MAKERS: readonly (readonly [string, (agent: LoadSource, options?: MiddlewareOptions) => unknown])[] = [
  ['httpMiddleware', (agent, options) => httpMiddleware(agent, () => {}, options)],
  ['expressMiddleware', expressMiddleware],
  ['fastifyMiddleware', fastifyMiddleware],
  ['koaMiddleware', koaMiddleware],
]

for (const [name, make] of MAKERS) {
  for (const [option, options] of [
    ['when', { when: 'never' }],
    ['form', { form: 'XML' }],
    ['reuse', { reuse: -1 }],
    ['skip', { skip: '/health' }],
    ['always', { always: true }],
  ] as const) {
    test(`${name}: a bad option is refused at once: ${option}`, (t) => {
      const { agent } = fakeAgent()
      const error = t.throws(() => make(agent, options as object), { instanceOf: OptionError })
      t.is(error?.option, option)
    })
  }

  test(`${name}: what is no agent is refused, such as the promise of one`, async (t) => {
    const promise = createAgent()
    for (const wrong of [undefined, null, {}, promise, 'agent']) {
      const error = t.throws(() => make(wrong as LoadSource), { instanceOf: OptionError })
      t.regex(error?.message ?? '', /await createAgent/)
    }
    await (await promise).close()
  })

  test(`${name}: from then on an idle process says so`, (t) => {
    const { agent, traffic } = fakeAgent()
    t.is(traffic.report().inFlight, undefined)
    make(agent)
    t.is(traffic.report().inFlight, 0)
  })
}
