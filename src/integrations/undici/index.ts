export { BalancedDispatcher, type BalancedDispatcherStats } from './balanced-dispatcher.js'
export type { CallCounters } from './caller.js'
export type { FailureKind } from './failures.js'
export type { BalancedDispatcherOptions, CallBalancer, RetryOptions } from './options.js'
