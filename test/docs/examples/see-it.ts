import type { Example } from '../examples.js'

const SEE_IT = '.github/docs/see-it.md'

export const seeIt: readonly Example[] = [
  {
    file: SEE_IT,
    has: 'estimateFleet({',
    comesTo: `
      assert.equal(planned, Math.ceil(planned))
      assert.ok(load > 0 && load < 1)
      assert.ok(equalShare > bySpareCapacity)
      assert.ok(steps.length > 5)`,
  },
  {
    file: SEE_IT,
    has: 'balancer.serve({ port: 9090 })',
    comesTo: "assert.equal((await fetch(new URL('snapshot', url))).status, 200)",
  },
  {
    file: SEE_IT,
    has: 'openFeed(',
    until: /^\d+(\.\d+)? \[/m,
  },
]
