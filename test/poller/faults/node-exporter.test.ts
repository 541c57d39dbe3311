import { faultTable } from './table.js'
import { overNodeExporter } from './transports.js'

faultTable(overNodeExporter)
