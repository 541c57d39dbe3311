/** How what is drawn is to be read. */
export function Reading() {
  return (
    <section id="reading" class="prose" aria-labelledby="reading-title">
      <h2 id="reading-title">How to read it</h2>
      <dl class="terms">
        <div>
          <dt>Busy</dt>
          <dd>
            The share of the last second that a server spent serving requests. It is what the policy brings
            about, so its bar is the large one.
          </dd>
        </div>
        <div>
          <dt>CPU as told</dt>
          <dd>
            What the server reported: requests and its background work together. It is drawn apart, with its
            age, because the balancer knows nothing newer. The stroke on the bar is what it would report now.
          </dd>
        </div>
        <div>
          <dt>A dot</dt>
          <dd>
            Every hundredth request that a server gets, unless you set another number. Marks before a server
            wait in its queue.
          </dd>
        </div>
        <div>
          <dt>The same requests</dt>
          <dd>
            When each comes and how much work it is: both are drawn from the seed, before anything is picked.
            Every policy gets them in the same order.
          </dd>
        </div>
      </dl>
      <p class="try">
        <strong>To try:</strong> play <em>least loaded only</em>. Until the next report all requests go to one
        server, then all to another. Then set <em>adaptive</em> beside it: no herd, and half of server 2's
        CPU, which goes after 20 s, costs milliseconds.
      </p>
    </section>
  )
}
