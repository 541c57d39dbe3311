import '../parts/theme.css'
import { mount } from '../parts/mount.js'
import { Report } from './Report.js'

const data: unknown = JSON.parse(document.getElementById('data')?.textContent ?? 'null')

mount(<Report data={data} />)
