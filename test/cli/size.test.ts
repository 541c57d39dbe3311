import test from 'ava'
import { estimateFleet } from '../../dist/index.js'
import { run } from './command.js'

test('idlest size prints every step with its formula, its numbers and what comes of it', async (t) => {
  const { code, stdout, stderr } = await run('size')
  t.is(code, 0)
  t.is(stderr, '')
  for (const line of [
    /^ users a day +1,000,000 +users +default$/m,
    /^1\. average requests per second: 579 requests\/s\n {3}users × requests \/ 86400 = 1,000,000 × 50 \/ 86,400$/m,
    /^2\. peak requests per second: 1,157 requests\/s$/m,
    /^3\. servers: 10$/m,
    /^4\. load on each server: 58 %$/m,
    /^5\. one server losing half of its CPU\n.*round robin.*: 116 %$/m,
    /^ {3}by spare capacity.*: 61 %$/m,
    /^ {3}→ over 100 % by an equal share \(round robin\)/m,
    /^6\. .*: 2,315 requests$/m,
    /^7\. advice: reports are weights, not a single winner/m,
  ]) {
    t.regex(stdout, line)
  }
})

test('each input has a flag, and the table says what was given', async (t) => {
  const inputs = {
    dailyActiveUsers: 2_000_000,
    requestsPerUserPerDay: 25,
    peakFactor: 3,
    trafficFactor: 0.5,
    serverCapacity: 1e3,
    targetLoad: 0.5,
    lostShare: 0.25,
    reportInterval: 5,
    servers: 7,
  }
  const flags = Object.entries(inputs).flatMap(([name, value]) => [
    `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    String(value),
  ])
  const { code, stdout } = await run('size', ...flags, '--json')
  t.is(code, 0)
  const { sources, ...estimate } = JSON.parse(stdout)
  t.deepEqual(estimate, estimateFleet(inputs))
  t.deepEqual(new Set(Object.values(sources)), new Set(['flag']))
  const text = await run('size', '--target-load', '0.5')
  t.regex(text.stdout, /^ target load +0\.5 +0 to 1 +flag$/m)
  t.notRegex(text.stdout, /servers that run/)
})

const wrong = [
  { args: ['--target-load', '1'], says: /^error: option --target-load is 1: expected a share .* below 1/ },
  { args: ['--lost-share', '1'], says: /^error: option --lost-share is 1: .* is down$/m },
  { args: ['--daily-active-users', '-5'], says: /--daily-active-users is -5: .* at least 0/ },
  { args: ['--daily-active-users', 'Infinity'], says: /--daily-active-users is Infinity/ },
  { args: ['--daily-active-users', '1e308'], says: /more than a number can hold/ },
  { args: ['--server-capacity', 'many'], says: /Expected a number/ },
  { args: ['--report-interval', '2000'], says: /2,000 ms are 2/ },
  { args: ['--trafic-factor', '1'], says: /unknown option[\s\S]*--traffic-factor/ },
  { args: ['now'], says: /too many arguments/ },
] as const

for (const { args, says } of wrong) {
  test(`idlest size ${args.join(' ')}: exits with 2 and says what is wrong`, async (t) => {
    const { code, stdout, stderr } = await run('size', ...args)
    t.is(code, 2)
    t.is(stdout, '')
    t.regex(stderr, says)
  })
}
