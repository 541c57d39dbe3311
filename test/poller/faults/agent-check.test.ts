import { faultTable } from './table.js'
import { overAgentCheck } from './transports.js'

faultTable(overAgentCheck)
