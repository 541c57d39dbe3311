import '../parts/theme.css'
import './report.css'
import type { ReportData } from '../model/report-data.js'
import { mount } from '../parts/mount.js'
import { Report } from './Report.js'

// Written by the program that made this file, so that it is what it should be.
const data = JSON.parse(document.getElementById('data')?.textContent ?? 'null') as ReportData | null

if (data === null) mount(<p class="report">This file has no data: it is made by idlest simulate --html.</p>)
else {
  document.title = `${data.title} – idlest simulate`
  mount(<Report data={data} />)
}
