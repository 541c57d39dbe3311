import test from 'ava'
import { run } from './command.js'

const wrong = [
  { args: ['agent', '--tokn=S3same'], says: "error: unknown option '--tokn'" },
  {
    args: ['agent', '--nats', 'n', '--nats-tokn=S3\n\u001b[2Jsame'],
    says: "error: unknown option '--nats-tokn'",
  },
  { args: ['--token=S3same'], says: "error: unknown option '--token'" },
  { args: ['agent', '--token', 'S3same S3same'], says: 'error: option --token is "(hidden)"' },
  {
    args: ['agent', '--nats', 'nats://me:S3same@n', '--nats-id', 'a'],
    says: 'error: option --nats is "(hidden)"',
  },
  { args: ['size', '--from', 'me:S3same@n'], says: 'error: option --from is "(hidden)@n"' },
  {
    args: ['top', '--once', 'http://me:S3same@127.0.0.1:1/?token=S3same'],
    says: 'error: ',
  },
]

for (const { args, says } of wrong) {
  test(`idlest ${JSON.stringify(args.join(' '))}: the message has no secret in it`, async (t) => {
    const { stdout, stderr } = await run(...args)
    t.notRegex(stdout + stderr, /S3|same/)
    t.true(stderr.startsWith(says), stderr)
  })
}

for (const [command, flag] of [
  ['agent', '--token'],
  ['agent', '--nats-token'],
  ['top', '--token'],
  ['size', '--token'],
] as const) {
  test(`idlest ${command} --help says that ps shows ${flag}`, async (t) => {
    const { stdout } = await run(command, '--help')
    const words = stdout
      .slice(stdout.indexOf(`${flag} <`))
      .split(/\s+/)
      .slice(0, 24)
      .join(' ')
    t.regex(words, /better by the variable, which ps does not show/)
  })
}
