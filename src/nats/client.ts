/** The client library, which is installed by who uses NATS alone. */
export type Client = typeof import('@nats-io/transport-node')

/** What is missing where it is not installed. */
export const NO_CLIENT = 'NATS needs another package: npm install @nats-io/transport-node'

/** Loads the client; undefined where it is not installed. */
export async function loadClient(): Promise<Client | undefined> {
  try {
    return await import('@nats-io/transport-node')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}
