import { parentPort, workerData } from 'node:worker_threads'
import type { ToWorker } from './protocol.js'
import { RemotePollers } from './remote-pollers.js'
import { checkThreadData } from './start-thread.js'
// What most pollers need is there from the start: a thread that can't be loaded is started anew, a part of it is not.
import './agent-check-member.js'
import './cpu-rate.js'
import './orca-reading.js'

// The program of the polling thread.

if (parentPort === null) throw new Error('the program of the polling thread runs as a worker thread alone')
const port = parentPort
checkThreadData(workerData)

const pollers = new RemotePollers((message) => port.postMessage(message))
port.on('message', (message: ToWorker) => pollers.take(message))

// Whatever a node makes this thread do, the others are asked on.
process.on('uncaughtException', (error) => pollers.caught(error))
process.on('unhandledRejection', (error) => pollers.caught(error))
