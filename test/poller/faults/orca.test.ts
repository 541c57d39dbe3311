import { faultTable } from './table.js'
import { overOrca } from './transports.js'

faultTable(overOrca)
