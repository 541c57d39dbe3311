// The good nodes of the scene.

import type { HostileNode } from '../../support/hostile-grpc.js'
import { startNode } from '../../support/hostile-http.js'

const MODES = ['idle', 'iowait', 'irq', 'nice', 'softirq', 'steal', 'system', 'user']

/** A node whose report is always the same, over a connection that is kept. */
export function reportingNode(): Promise<HostileNode> {
  const body = '{"cpu_utilization":0.4}'
  const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  return startNode((socket) => socket.on('data', () => socket.write(answer)))
}

/** A machine of four cores with a page of some 60 KiB, as node_exporter has it. */
export function exportingNode(): Promise<HostileNode> {
  const rest = Array.from(
    { length: 900 },
    (_, i) => `node_disk_io_time_seconds_total{device="disk-${i}",kind="other"} ${i}.25\n`,
  ).join('')
  let seconds = 0
  return startNode((socket) => {
    socket.on('data', () => {
      seconds += 0.1
      const cpu = [0, 1, 2, 3].flatMap((core) =>
        MODES.map((mode) => `node_cpu_seconds_total{cpu="${core}",mode="${mode}"} ${seconds.toFixed(2)}\n`),
      )
      const page = `# HELP node_cpu_seconds_total Seconds.\n${cpu.join('')}${rest}`
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${page.length}\r\n\r\n${page}`)
    })
  })
}
