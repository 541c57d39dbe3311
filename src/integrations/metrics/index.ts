export type { Watchable } from './observer.js'
export type { Watch } from './watched-balancers.js'
