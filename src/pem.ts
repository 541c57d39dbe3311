/** PEM text, or several of them. */
export type Pem = string | Uint8Array | readonly (string | Uint8Array)[]

/** PEM as Node.js takes it. From another thread bytes come as plain Uint8Arrays, which it does not take everywhere. */
export function pemBuffers(pem: Pem): Buffer[] {
  const several = typeof pem === 'string' || pem instanceof Uint8Array ? [pem] : pem
  return several.map((one) => Buffer.from(one))
}
