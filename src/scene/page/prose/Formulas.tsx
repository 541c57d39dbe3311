/** Where the formulas of the estimate and the behaviour of the scene come from. */
export function Formulas() {
  return (
    <section id="formulas" class="prose" aria-labelledby="formulas-title">
      <h2 id="formulas-title">Where the formulas come from</h2>
      <dl class="formulas">
        <div>
          <dt>
            <code>load = traffic / (servers × capacity)</code>
          </dt>
          <dd>
            The utilization law: the share of time that a server is busy is the rate at which work comes,
            times what one piece of it takes. It needs no assumption about how requests arrive.{' '}
            <cite>
              P. J. Denning and J. P. Buzen, “The Operational Analysis of Queueing Network Models”, ACM
              Computing Surveys 10(3), 1978.
            </cite>
          </dd>
        </div>
        <div>
          <dt>
            <code>servers = ⌈peak / (capacity × target)⌉</code>
          </dt>
          <dd>The same law, solved for the number of servers. 86,400 are the seconds of a day.</dd>
        </div>
        <div>
          <dt>
            <code>load / (1 − lost)</code> and <code>load × n / (n − lost)</code>
          </dt>
          <dd>
            The law once more. A server with half its CPU gone has half its capacity: with an equal share of
            the requests its load doubles. In proportion to what each can spare, all carry the loss together.
            Over 100 % there is no load to speak of: the queue grows for as long as it lasts.
          </dd>
        </div>
        <div>
          <dt>
            <code>traffic × interval</code>
          </dt>
          <dd>
            What is sent before the next report, and so to one server where the least loaded gets all. That
            stale reports make herds, and that a choice of two keeps them small, is known well.{' '}
            <cite>
              M. Mitzenmacher, “How Useful Is Old Information?”, IEEE TPDS 11(1), 2000; M. Dahlin,
              “Interpreting Stale Load Information”, IEEE TPDS 11(10), 2000.
            </cite>
          </dd>
        </div>
        <div>
          <dt>
            <code>T / (smoothing + T) &lt; 2 (1 − load)</code>
          </dt>
          <dd>
            Weights by spare capacity settle while this holds, for reports every <var>T</var>, and swing
            otherwise: found in idlest's own simulator. Set the smoothing to 0 to see it.
          </dd>
        </div>
        <div>
          <dt>Response times</dt>
          <dd>
            Not from a formula: counted, request by request. Each server works on one request at a time, first
            come, first served; times between arrivals and the work of each are exponential.{' '}
            <cite>L. Kleinrock, “Queueing Systems”, volume 1, 1975,</cite> has what to expect of that.
          </dd>
        </div>
      </dl>
    </section>
  )
}
