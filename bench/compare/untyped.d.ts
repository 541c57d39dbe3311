// What the bench calls of packages that have no types.

declare module 'hashring' {
  export default class HashRing {
    /** @param algorithm a hash of node:crypto; 40 x 4 points a server unless `options` says otherwise */
    constructor(servers: readonly string[], algorithm?: string, options?: { 'max cache size'?: number })
    get(key: string): string
    /** Points on the ring. */
    readonly size: number
  }
}

declare module 'consistent-hash' {
  export default class ConsistentHash {
    constructor(options?: { range?: number; controlPoints?: number })
    add(node: string): this
    get(key: string): string
    /** Points on the ring. */
    readonly keyCount: number
  }
}
