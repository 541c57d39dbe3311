import '../parts/theme.css'
import './page.css'
import { mount } from '../parts/mount.js'
import { App } from './App.js'

mount(<App />)
