export { type GrpcModule, TESTED_GRPC } from './grpc-module.js'
export type { PolicyName } from './policy-config.js'
export {
  type GrpcBalancerOptions,
  type GrpcNode,
  type RegisterOptions,
  registerIdlestPolicies,
} from './register.js'
