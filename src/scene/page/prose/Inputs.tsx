import type { ComponentChildren } from 'preact'

interface Meaning {
  readonly name: string
  readonly means: ComponentChildren
  readonly usual: ComponentChildren
}

const scene: readonly Meaning[] = [
  {
    name: 'Traffic',
    means:
      'All requests, as a multiple of the planned peak. The servers that are drawn get their share of the fleet’s requests.',
    usual:
      '1. In the example that is 463 requests/s for four of ten servers, 58 % of what they can do. Beyond 1.7, or 1.5 with half a server gone, no policy can help.',
  },
  {
    name: 'Report interval',
    means:
      'How often a server tells how busy it is. In between, whoever balances knows only the last report.',
    usual: 'Seconds: HAProxy asks its agents every 2 s, gRPC its backends every 10 s, unless told otherwise.',
  },
  {
    name: 'CPU that a server loses',
    means: 'Other work on server 2, and when it starts: a backup, a noisy neighbour, a throttled quota.',
    usual: 'Half, after 20 s. Requests there then take twice as long.',
  },
  {
    name: 'Balancers',
    means:
      'Each gets its part of the requests and reports at moments of its own, and sees nothing of the others.',
    usual: 'One for a proxy; as many as there are processes where every client balances for itself.',
  },
  {
    name: 'Threshold',
    means:
      'Of the LeastCpu band: servers within so many percentage points of the lowest count as equally idle.',
    usual: '5 points, as published. Wider is steadier, and notices less.',
  },
  {
    name: 'Smoothing',
    means: 'Of spare capacity: the time constant over which reports are averaged before they become weights.',
    usual: '10 s. With less it swings; with more it is late.',
  },
]

const estimate: readonly Meaning[] = [
  {
    name: 'Users, and requests of each',
    means: 'People who come on a day, and what one of them asks for on that day.',
    usual: 'From your access logs or analytics. Count calls to the servers, not pages.',
  },
  {
    name: 'Peak factor',
    means: 'The busiest hour over the mean of the day.',
    usual:
      '2 is a fair first guess for a service that is used around the clock; one country alone makes it more.',
  },
  {
    name: 'Traffic',
    means:
      'What flows now, as a multiple of the planned peak. The number of servers is planned from the peak.',
    usual: '1. More is what happens when a plan is met by success.',
  },
  {
    name: 'Capacity of a server',
    means: 'Requests per second at which one server can go no faster.',
    usual: 'Found by a load test of one server, with requests like the real ones.',
  },
  {
    name: 'Target load',
    means:
      'How busy servers should be at the peak: the rest is headroom for spikes, background work and failures.',
    usual: '0.5 to 0.7. Above that, response times rise steeply.',
  },
  {
    name: 'Servers that run',
    means: 'The number of servers, where it is not the planned one.',
    usual:
      'Empty: as many as planned. The scene draws up to eight that you enter, and four of a planned fleet.',
  },
  {
    name: 'Lost share',
    means: 'Part of its CPU that one server loses to other work.',
    usual: 'A half is common enough to plan for.',
  },
  {
    name: 'Report interval',
    means: 'As in the scene: what comes between two reports is sent by the older one.',
    usual: 'Seconds; 2 s here, as HAProxy has it. Short against how fast load changes.',
  },
]

/** What each input means, and where its usual value comes from. */
export function Inputs() {
  return (
    <section id="inputs" class="prose" aria-labelledby="inputs-title">
      <h2 id="inputs-title">What the inputs mean</h2>
      <p class="lead">And where their usual values come from.</p>
      <Meanings title="Of the scene" list={scene} />
      <Meanings title="Of the estimate" list={estimate} />
    </section>
  )
}

function Meanings({ title, list }: { readonly title: string; readonly list: readonly Meaning[] }) {
  return (
    <table class="meanings">
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">Input</th>
          <th scope="col">What it means</th>
          <th scope="col">Usually</th>
        </tr>
      </thead>
      <tbody>
        {list.map(({ name, means, usual }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{means}</td>
            <td>{usual}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
