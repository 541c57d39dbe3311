import '../parts/theme.css'
import '../parts/chart.css'
import './live.css'
import { mount } from '../parts/mount.js'
import { Live } from './Live.js'

mount(<Live />)
