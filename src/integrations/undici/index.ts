export type { BalancedDispatcherStats } from './balanced-dispatcher.js'
export type { CallCounters } from './caller.js'
export {
  BalancedDispatcher,
  type BalancedDispatcherConstructor,
  type DispatcherOfEither,
  type DispatchRequest,
  type Done,
  type EitherDispatcher,
  type HandlerOfEither,
  type InterceptorOfEither,
  type OfEither,
  type PoolOptions,
} from './either-major.js'
export type { FailureKind } from './failures.js'
export type { BalancedDispatcherOptions, CallBalancer, RetryOptions } from './options.js'
