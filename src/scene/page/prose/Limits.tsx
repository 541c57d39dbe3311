const limits = [
  [
    'Reports are always a little old',
    'Measured, sent, kept until the next: at 463 requests a second a report of 2 s ago is 926 requests old. So a report is a weight for many picks, not a winner of them all, and what a balancer has sent itself since then counts too.',
  ],
  [
    'Something has to run on every server',
    'Somebody has to look at the CPU and answer. An agent is small, but it is installed, updated and watched like anything else. Where that can’t be, go by what callers see: requests in flight and response times.',
  ],
  [
    'CPU is not the only resource',
    'A server that waits for a database, a disk or a lock looks idle. Report what really runs out, be it a pool, a queue or memory, or learn from the responses, which are slow whatever the reason.',
  ],
  [
    'A full server must still be heard',
    'One that gets nothing tells nothing new of how it does with work, and nobody would notice that it is well again. So a full server keeps a small share, and silence is not taken for idleness: old reports expire.',
  ],
] as const

/** What no balancing by reports gets around. */
export function Limits() {
  return (
    <section id="limits" class="prose" aria-labelledby="limits-title">
      <h2 id="limits-title">Four limits</h2>
      <p class="lead">Of balancing by what servers report, however well it is done.</p>
      <ol class="limits">
        {limits.map(([title, text]) => (
          <li key={title}>
            <h3>{title}</h3>
            <p>{text}</p>
          </li>
        ))}
      </ol>
    </section>
  )
}
