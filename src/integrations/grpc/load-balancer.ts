import type { ChannelOptions, connectivityState, experimental } from '@grpc/grpc-js'
import type { Algorithm, Balancer } from '../../index.js'
import { BINARY_HEADER } from '../../reports/orca-headers.js'
import { Backend, idOf } from './backend.js'
import { CallPicker, type CallRules } from './calls.js'
import type { GrpcModule } from './grpc-module.js'
import { PolicyConfig, type PolicyName } from './policy-config.js'
import { TrailerReports } from './trailer-reports.js'

type Endpoints = experimental.StatusOr<experimental.Endpoint[]>

/** What the load balancers of one policy work with. */
export interface PolicyContext {
  readonly grpc: GrpcModule
  readonly policy: PolicyName
  readonly makeBalancer: (algorithm: Algorithm) => Balancer<Backend>
  readonly hasFailed: CallRules['hasFailed']
  /** Time between two reports of one node that are read off calls, ms. */
  readonly spacing: number
}

/**
 * A channel's load balancer: keeps a connection to each endpoint, and has a balancer of idlest pick among those that are
 * ready. So an endpoint whose connection is lost is no member until it has another one, and begins anew then.
 */
export class IdlestLoadBalancer implements experimental.LoadBalancer {
  readonly #helper: experimental.ChannelControlHelper
  readonly #context: PolicyContext
  readonly #backends = new Map<string, Backend>()
  // How many are in each state.
  readonly #states = new Map<connectivityState, number>()
  #config: PolicyConfig | undefined
  #balancer: Balancer<Backend> | undefined
  #picker: CallPicker | undefined
  #lastError: string | null = null
  // While endpoints are taken in, the state is told once, at the end.
  #isUpdating = false
  #isClosed = false

  constructor(helper: experimental.ChannelControlHelper, context: PolicyContext) {
    this.#helper = helper
    this.#context = context
  }

  updateAddressList(
    endpoints: Endpoints,
    config: experimental.TypedLoadBalancingConfig,
    options: ChannelOptions,
    note: string,
  ): boolean {
    if (!(config instanceof PolicyConfig) || config.policy !== this.#context.policy) return false
    if (!endpoints.ok) {
      // Those that are known are as good as they were.
      if (this.#backends.size === 0) this.#tellFailure(endpoints.error, endpoints.error.details)
      return true
    }
    this.#isUpdating = true
    try {
      this.#take(config)
      this.#follow(endpoints.value, options, note)
    } finally {
      this.#isUpdating = false
    }
    if (this.#backends.size === 0) {
      this.#lastError = `No addresses resolved. Resolution note: ${note}`
      this.#tellFailure({ details: this.#lastError }, this.#lastError)
      return false
    }
    this.#tellState()
    return true
  }

  /** Nothing to do: it is idle only without an endpoint. */
  exitIdle(): void {}

  /** Nothing to do: connections have back-offs of their own. */
  resetBackoff(): void {}

  getTypeName(): PolicyName {
    return this.#context.policy
  }

  destroy(): void {
    this.#isClosed = true
    for (const backend of this.#backends.values()) backend.close()
    this.#backends.clear()
    void this.#balancer?.close()
  }

  // A config that picks as the last one did changes nothing of what was learned.
  #take(config: PolicyConfig): void {
    const before = this.#config
    const balancer = this.#balancer
    this.#config = config
    if (balancer === undefined || !config.picksAs(before)) {
      const next = this.#context.makeBalancer(config.algorithm)
      next.setNodes(this.#ready())
      this.#balancer = next
      this.#picker = undefined
      // After the other has its nodes, which so stay in the table, with readings and counts.
      void balancer?.close()
    }
    if (config.reportingPeriod !== before?.reportingPeriod) this.#picker = undefined
    for (const backend of this.#ready()) this.#hear(backend)
  }

  #follow(endpoints: readonly experimental.Endpoint[], options: ChannelOptions, note: string): void {
    const { grpc } = this.#context
    const seen = new Set<string>()
    for (const endpoint of endpoints) {
      const id = idOf(grpc, endpoint)
      if (seen.has(id)) continue
      seen.add(id)
      const known = this.#backends.get(id)
      if (known === undefined) this.#connect(id, endpoint, options, note)
      else known.leaf.updateEndpoint(endpoint, options)
    }
    for (const [id, backend] of this.#backends) if (!seen.has(id)) this.#drop(id, backend)
  }

  #connect(id: string, endpoint: experimental.Endpoint, channelOptions: ChannelOptions, note: string): void {
    const backend = new Backend({
      grpc: this.#context.grpc,
      id,
      endpoint,
      helper: this.#helper,
      channelOptions,
      resolutionNote: note,
      onState: (backend, state, error) => this.#changed(backend, state, error),
    })
    this.#backends.set(id, backend)
    this.#count(backend.state, 1)
    backend.leaf.startConnecting()
  }

  #drop(id: string, backend: Backend): void {
    this.#backends.delete(id)
    this.#count(backend.state, -1)
    if (backend.isReady) this.#balancer?.remove(backend)
    backend.close()
  }

  #changed(backend: Backend, state: connectivityState, error: string | null): void {
    if (this.#isClosed || this.#backends.get(backend.id) !== backend) return
    const wasReady = backend.isReady
    this.#count(backend.state, -1)
    backend.state = state
    this.#count(state, 1)
    if (error !== null) this.#lastError = error
    if (backend.isReady && !wasReady) this.#join(backend)
    else if (wasReady && !backend.isReady) this.#leave(backend)
    // It may have another connection, though it was ready before.
    if (backend.isReady) this.#hear(backend)
    this.#tellState()
    if (state === this.#context.grpc.connectivityState.IDLE) backend.leaf.exitIdle()
  }

  #join(backend: Backend): void {
    // Has the engine see who left: whoever left and came back between two picks would not have been away.
    this.#balancer?.stats()
    this.#balancer?.add(backend)
  }

  #leave(backend: Backend): void {
    this.#balancer?.remove(backend)
    backend.hear(undefined, 0, () => {})
    this.#helper.requestReresolution()
  }

  #hear(backend: Backend): void {
    backend.hear(this.#config?.reportingPeriod, this.#context.spacing, (report) => {
      this.#balancer?.observe(backend, { [BINARY_HEADER]: report })
    })
  }

  #ready(): Backend[] {
    return [...this.#backends.values()].filter(({ isReady }) => isReady)
  }

  #count(state: connectivityState, by: number): void {
    this.#states.set(state, (this.#states.get(state) ?? 0) + by)
  }

  #has(state: connectivityState): boolean {
    return (this.#states.get(state) ?? 0) > 0
  }

  #tellState(): void {
    if (this.#isUpdating) return
    const { connectivityState: states, experimental } = this.#context.grpc
    if (this.#has(states.READY)) {
      this.#helper.updateState(states.READY, this.#readyPicker(), null)
    } else if (this.#has(states.CONNECTING)) {
      this.#helper.updateState(states.CONNECTING, new experimental.QueuePicker(this), null)
    } else if (this.#has(states.TRANSIENT_FAILURE)) {
      const error = `${this.getTypeName()}: No connection established. Last error: ${this.#lastError}`
      this.#tellFailure({ details: error }, error)
    } else {
      this.#helper.updateState(states.IDLE, new experimental.QueuePicker(this), null)
    }
  }

  #tellFailure(
    status: ConstructorParameters<GrpcModule['experimental']['UnavailablePicker']>[0],
    error: string,
  ): void {
    const { connectivityState: states, experimental } = this.#context.grpc
    const picker = new experimental.UnavailablePicker(status)
    this.#helper.updateState(states.TRANSIENT_FAILURE, picker, error)
  }

  // The same one as long as it picks alike: whom it picks among is the balancer's to know.
  #readyPicker(): CallPicker {
    const balancer = this.#balancer
    if (balancer === undefined) throw new Error('there is no balancer before there is a config')
    const { spacing, hasFailed } = this.#context
    this.#picker ??= new CallPicker({
      balancer,
      reports:
        this.#config?.reportingPeriod === undefined ? new TrailerReports(balancer, spacing) : undefined,
      hasFailed,
    })
    return this.#picker
  }
}
