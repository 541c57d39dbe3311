/** How what is drawn is to be read. */
export function Reading() {
  return (
    <section id="reading" class="prose" aria-labelledby="reading-title">
      <h2 id="reading-title">How to read it</h2>
      <dl class="terms">
        <div>
          <dt>Busy</dt>
          <dd>
            The share of the last window that a server spent serving requests. It is what the policy brings
            about, so it is drawn large.
          </dd>
        </div>
        <div>
          <dt>Reported CPU</dt>
          <dd>
            What the server said of itself: requests and background work together. It is drawn apart, with its
            age, because the balancer knows nothing newer.
          </dd>
        </div>
        <div>
          <dt>A dot</dt>
          <dd>
            Every hundredth request sent to a server, unless you set another number. Requests differ in
            length.
          </dd>
        </div>
        <div>
          <dt>The same requests</dt>
          <dd>
            Arrivals and the work of each are drawn from a seed, once. The fingerprint tells runs of the same
            requests from others.
          </dd>
        </div>
      </dl>
      <p class="try">
        <strong>To try:</strong> start with <em>least loaded only</em>. Until the next report comes all
        requests go to one server, then all to another. Then switch to <em>adaptive</em>, and let a server
        lose most of its CPU.
      </p>
    </section>
  )
}
