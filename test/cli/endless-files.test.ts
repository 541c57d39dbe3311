import { existsSync } from 'node:fs'
import test from 'ava'
import { run } from './command.js'

const endless = existsSync('/dev/zero') ? test : test.skip

for (const { args, says } of [
  { args: ['simulate', '--replay', '/dev/zero'], says: /^error: .*this is no access log/ },
  { args: ['simulate', '/dev/zero'], says: /^error: .*longer than any scenario/ },
  { args: ['agent', '--tls-cert', '/dev/zero', '--tls-key', '/dev/zero'], says: /at most 1048576 bytes/ },
  {
    args: ['agent', '--nats', 'n', '--nats-id', 'a', '--nats-credentials', '/dev/zero'],
    says: /at most 1048576 bytes/,
  },
  { args: ['simulate', '--replay', '/'], says: /^error: can't read the log: EISDIR/ },
  { args: ['simulate', '/'], says: /^error: can't read the scenario: EISDIR/ },
  { args: ['agent', '--tls-cert', '/', '--tls-key', '/'], says: /EISDIR/ },
]) {
  endless(`idlest ${args.join(' ')} ends, and says what is wrong with the file`, async (t) => {
    const { code, stderr } = await run(...args)
    t.true(code === 1 || code === 2)
    t.regex(stderr, says)
  })
}
