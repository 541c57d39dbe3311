/** `host:port` as URLs have it: an IPv6 address in brackets. */
export function authority({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** A host as sockets take it: an IPv6 address without brackets. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}
