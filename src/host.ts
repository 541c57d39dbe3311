import { isIP } from 'node:net'

/** `host:port` as URLs have it: an IPv6 address in brackets. */
export function authority({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** A host as sockets take it: an IPv6 address without brackets. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

/** Whether a host, in brackets or not, is this machine itself, for programs of this machine alone. */
export function isLoopback(host: string): boolean {
  const bare = bareHost(host)
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}
