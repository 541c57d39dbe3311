/**
 * What idlest uses of undici. By its file: for the bare name `undici` Bun gives a stand-in of its own, whose clients and
 * dispatchers send nothing.
 */
export { Agent, buildConnector, Client, Dispatcher, errors, Pool } from 'undici/index.js'
