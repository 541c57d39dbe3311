import { faultTable } from './table.js'
import { overHttp } from './transports.js'

faultTable(overHttp)
