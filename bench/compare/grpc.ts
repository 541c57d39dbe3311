import * as grpc from '@grpc/grpc-js'
import { registerIdlestPolicies } from '../../dist/integrations/grpc/index.js'
import type { BenchCase } from '../case.js'
import { ownLoop } from '../own-loop.js'
import { PEER_CASES } from './names.js'

const { connectivityState, experimental, Metadata, status } = grpc

/** The policies that are compared: those of grpc-js, and idlest's. */
export type Policy =
  | 'round_robin'
  | 'weighted_round_robin'
  | 'pick_first'
  | 'idlest_weighted_round_robin'
  | 'idlest_adaptive'

type SubchannelRef = ReturnType<grpc.experimental.SubchannelInterface['getChannelzRef']>

// A connection that is ready and does nothing: picks don't look any further.
class ReadySubchannel implements grpc.experimental.SubchannelInterface {
  readonly #address: string

  constructor(address: string) {
    this.#address = address
  }

  getConnectivityState(): grpc.connectivityState {
    return connectivityState.READY
  }
  getAddress(): string {
    return this.#address
  }
  isHealthy(): boolean {
    return true
  }
  realSubchannelEquals(other: grpc.experimental.SubchannelInterface): boolean {
    return other === this
  }
  addConnectivityStateListener(): void {}
  removeConnectivityStateListener(): void {}
  startConnecting(): void {}
  throttleKeepalive(): void {}
  ref(): void {}
  unref(): void {}
  addHealthStateWatcher(): void {}
  removeHealthStateWatcher(): void {}
  addDataWatcher(): void {}
  // The values of that enumeration are not public.
  getChannelzRef(): SubchannelRef {
    return { kind: 'subchannel' as SubchannelRef['kind'], id: 0, name: this.#address }
  }
  getRealSubchannel(): never {
    throw new Error('not connected')
  }
  getCallCredentials(): never {
    throw new Error('not connected')
  }
  getChannel(): never {
    throw new Error('not connected')
  }
}

export interface PolicyPicker {
  readonly picker: grpc.experimental.Picker
  close(): void
}

/**
 * The picker that @grpc/grpc-js makes by a policy for as many nodes that are connected: its own balancer, by way of its
 * experimental exports, over connections that do nothing. `weighted_round_robin` has had no reports: all weights are
 * alike, which changes no pick's cost.
 */
export function pickerOf(policy: Policy, nodes: number): PolicyPicker {
  let picker: grpc.experimental.Picker | undefined
  const balancer = new experimental.ChildLoadBalancerHandler({
    createSubchannel: (address) => new ReadySubchannel(experimental.subchannelAddressToString(address)),
    updateState: (state, made) => {
      if (state === connectivityState.READY) picker = made
    },
    requestReresolution: () => {},
    addChannelzChild: () => {},
    removeChannelzChild: () => {},
  })
  const endpoints = Array.from({ length: nodes }, (_, i) => ({
    addresses: [{ host: `10.0.${i >> 8}.${i & 255}`, port: 8080 }],
  }))
  const config = experimental.parseLoadBalancingConfig({ [policy]: {} })
  balancer.updateAddressList(experimental.statusOrFromValue(endpoints), config, {}, '')
  if (picker === undefined) throw new Error(`${policy} has made no picker`)
  return { picker, close: () => balancer.destroy() }
}

/** What a call that has no deadline, metadata or config of its own passes to pickers. */
export const CALL: grpc.experimental.PickArgs = { metadata: new Metadata(), extraPickInfo: {} }

const NOTHING = new Metadata()

/** Pickers of @grpc/grpc-js. A pick gives an object made for it. */
export function grpcCases(nodes: number): { cases: BenchCase[]; close: () => void } {
  registerIdlestPolicies(grpc)
  const turns = pickerOf('round_robin', nodes)
  const weighted = pickerOf('weighted_round_robin', nodes)
  const first = pickerOf('pick_first', nodes)
  const ourWeighted = pickerOf('idlest_weighted_round_robin', nodes)
  const ourAdaptive = pickerOf('idlest_adaptive', nodes)
  const shape = { engine: '-', nodes, iterations: 20 } as const
  return {
    cases: [
      { ...shape, name: PEER_CASES.roundRobin, sample: ownLoop(() => turns.picker.pick(CALL)) },
      { ...shape, name: PEER_CASES.weightedRoundRobin, sample: ownLoop(() => weighted.picker.pick(CALL)) },
      { ...shape, name: PEER_CASES.pickFirst, sample: ownLoop(() => first.picker.pick(CALL)) },
      // These hear of a call's begin and end; those of grpc-js have nothing to hear.
      {
        ...shape,
        name: PEER_CASES.ourWeighted,
        sample: ownLoop(() => {
          const pick = ourWeighted.picker.pick(CALL)
          pick.onCallStarted?.()
          pick.onCallEnded?.(status.OK, '', NOTHING)
          return pick
        }),
      },
      {
        ...shape,
        name: PEER_CASES.ourAdaptive,
        sample: ownLoop(() => {
          const pick = ourAdaptive.picker.pick(CALL)
          pick.onCallStarted?.()
          pick.onCallEnded?.(status.OK, '', NOTHING)
          return pick
        }),
      },
    ],
    close: () => {
      for (const { close } of [turns, weighted, first, ourWeighted, ourAdaptive]) close()
    },
  }
}
