export type { ConnectionLike, RequestLike, ResponseLike } from './exchange.js'
export { expressMiddleware } from './express.js'
export { type FastifyLike, type FastifyPlugin, fastifyMiddleware } from './fastify.js'
export {
  type GrpcCallLike,
  type GrpcInterceptorOptions,
  type GrpcMetadataLike,
  type GrpcModuleLike,
  type GrpcResponder,
  type GrpcStatusLike,
  grpcInterceptor,
} from './grpc.js'
export { httpMiddleware } from './http.js'
export { type KoaContextLike, koaMiddleware } from './koa.js'
export type { LoadSource, MiddlewareOptions } from './options.js'
