// A resolver of gRPC that says what a test has it say, for `pushed:NAME`.
import { experimental } from '@grpc/grpc-js'
import { until } from './fleet.js'

type Listener = ConstructorParameters<Parameters<typeof experimental.registerResolver>[1]>[1]

const listeners = new Map<string, Listener>()
let named = 0

class PushedResolver implements experimental.Resolver {
  constructor({ path }: experimental.GrpcUri, listener: Listener) {
    listeners.set(path, listener)
  }
  static getDefaultAuthority(): string {
    return 'pushed'
  }
  updateResolution(): void {}
  destroy(): void {}
}

/** What names resolve to from now on, and the target that resolves so. */
export function pushed() {
  experimental.registerResolver('pushed', PushedResolver)
  const name = `names-${++named}`
  return {
    target: `pushed:${name}`,
    /** Says that these are the endpoints; each a port, or several of one endpoint. False where that was not taken. */
    async resolve(endpoints: readonly (number | readonly number[])[], config: object | null = null) {
      await until(() => listeners.has(name))
      const addressesOf = (ports: number | readonly number[]) =>
        [ports].flat().map((port) => ({ host: '127.0.0.1', port }))
      return listeners.get(name)?.(
        experimental.statusOrFromValue(endpoints.map((ports) => ({ addresses: addressesOf(ports) }))),
        {},
        config === null
          ? null
          : experimental.statusOrFromValue({ loadBalancingConfig: [config], methodConfig: [] } as never),
        '',
      )
    },
    /** Says that names can't be resolved. */
    async fail(details: string) {
      await until(() => listeners.has(name))
      return listeners.get(name)?.(experimental.statusOrFromError({ code: 14, details }), {}, null, '')
    },
  }
}
