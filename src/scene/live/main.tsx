import '../parts/theme.css'
import './live.css'
import { mount } from '../parts/mount.js'
import { Live } from './Live.js'

mount(<Live />)
