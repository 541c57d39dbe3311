const HAPROXY = 'https://docs.haproxy.org/3.2/configuration.html#5.2-agent-check'
const PROPOSALS = 'https://github.com/grpc/proposal/blob/master/'

/** How others use reports, and where that is written down. */
export function Elsewhere() {
  return (
    <section id="elsewhere" class="prose" aria-labelledby="elsewhere-title">
      <h2 id="elsewhere-title">The same idea in HAProxy and gRPC</h2>
      <p class="lead">Both have let servers speak for themselves for years, each in its own way.</p>
      <div class="pair">
        <article aria-labelledby="haproxy-title">
          <h3 id="haproxy-title">HAProxy: agent checks</h3>
          <p>
            Beside its health checks HAProxy can ask an agent on the server, every 2 s by default. The answer
            is a line of text. A percentage sets the server's weight, as a part of the configured one; words
            such as <code>drain</code>, <code>maint</code>, <code>down</code> and <code>up</code> set its
            state.
          </p>
          <p>
            The weight then goes into whatever algorithm the backend has, such as round robin or least
            connections. An agent that can't be reached changes nothing: health is for the health check to
            tell.
          </p>
          <p class="source">
            Source:{' '}
            <a href={HAPROXY}>
              HAProxy Configuration Manual, <code>agent-check</code>
            </a>
          </p>
        </article>
        <article aria-labelledby="grpc-title">
          <h3 id="grpc-title">gRPC: weighted round robin</h3>
          <p>
            Backends report requests per second, errors per second and utilization: with each response, or on
            a stream of their own, every 10 s unless told otherwise. The weight of one is{' '}
            <code>qps / (utilization + eps/qps × penalty)</code>: what it would serve if it were full.
          </p>
          <ul>
            <li>For the first 10 s of its reports a backend's weight is not used: the blackout.</li>
            <li>After 3 min without a report its weight is forgotten.</li>
            <li>With fewer than two backends that have a weight it is plain round robin.</li>
            <li>A backend without a weight gets the mean of the others.</li>
          </ul>
          <p class="source">
            Sources: gRFC{' '}
            <a href={`${PROPOSALS}A58-client-side-weighted-round-robin-lb-policy.md`}>
              A58, weighted round robin
            </a>
            ; <a href={`${PROPOSALS}A51-custom-backend-metrics.md`}>A51, reports by ORCA</a>;{' '}
            <a href={`${PROPOSALS}A114-wrr-metric-names-for-computing-utilization.md`}>
              A114, other utilizations
            </a>{' '}
            (in review when this was written)
          </p>
        </article>
      </div>
      <p class="soft">
        Numbers here are defaults at the time of writing, and defaults change: the documents of the version
        that you run have the last word. idlest speaks both: its agent answers agent checks and ORCA, and its
        balancer reads either.
      </p>
    </section>
  )
}
