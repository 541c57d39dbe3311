/** Names of the cases of others: their package, and what of it is called. */
export const PEER_CASES = {
  consistentHash: 'consistent-hash, get(key)',
  hashring: 'hashring, get(key), not cached',
  hashringCached: 'hashring, get(key), cached',
  twoChoices: 'load-balancers, nodes[P2cBalancer.pick()]',
  randomBalancer: 'load-balancers, nodes[RandomBalancer.pick()]',
  balancedPool: 'undici, pick of BalancedPool',
  roundRobin: '@grpc/grpc-js, round_robin picker',
  weightedRoundRobin: '@grpc/grpc-js, weighted_round_robin picker',
  pickFirst: '@grpc/grpc-js, pick_first picker',
  /** Idlest's own policies for it. */
  ourWeighted: 'idlest_weighted_round_robin picker',
  ourAdaptive: 'idlest_adaptive picker',
} as const
