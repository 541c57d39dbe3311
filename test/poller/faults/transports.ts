import {
  agentCheckTransport,
  httpTransport,
  nodeExporterTransport,
  orcaTransport,
} from '../../../dist/index.js'
import { FAULTS, type FaultedTransport } from './faults.js'
import { orcaNode } from './orca-node.js'
import { tcpNodes } from './tcp-node.js'

function httpAnswer(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

const ENDLESS_BODY = 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n'

export const overHttp: FaultedTransport = {
  name: 'http',
  faults: FAULTS,
  transport: (tls) => httpTransport(tls === undefined ? {} : { protocol: 'https', tls }),
  start: tcpNodes({
    asked: true,
    answer: (cpu) => httpAnswer(`{"cpu_utilization":${cpu / 100}}`),
    wrong: (load) => httpAnswer(`{"cpu_utilization":${load}}`),
    empty: httpAnswer('{}'),
    endless: ENDLESS_BODY,
  }),
}

export const overAgentCheck: FaultedTransport = {
  name: 'agent-check',
  faults: FAULTS,
  transport: (tls) => (id) =>
    agentCheckTransport({
      port: Number(id.split(':')[1]),
      weight: 'idle',
      ...(tls === undefined ? {} : { tls }),
    }),
  start: tcpNodes({
    asked: false,
    answer: (cpu) => `up ${100 - cpu}%\n`,
    wrong: (load) => `${load}%\n`,
    empty: '\n',
    endless: 'up ',
  }),
}

function page(idle: number | string, busy: number): string {
  return `node_cpu_seconds_total{cpu="0",mode="idle"} ${idle}\nnode_cpu_seconds_total{cpu="0",mode="user"} ${busy}\n`
}

export const overNodeExporter: FaultedTransport = {
  name: 'node-exporter',
  faults: FAULTS,
  transport: (tls) =>
    nodeExporterTransport({
      node: (id) => ({ url: `${tls === undefined ? 'http' : 'https'}://${id}/metrics` }),
      ...(tls === undefined ? {} : { tls }),
    }),
  start: tcpNodes({
    asked: true,
    answer: (cpu, count) => httpAnswer(page((count * (100 - cpu)) / 100, (count * cpu) / 100)),
    wrong: (load) => httpAnswer(page(load, 1)),
    empty: httpAnswer('node_load1 7\n'),
    endless: ENDLESS_BODY,
  }),
}

export const overOrca: FaultedTransport = {
  name: 'orca',
  unasked: true,
  faults: FAULTS,
  transport: (tls) => orcaTransport({ reportInterval: 100, ...(tls === undefined ? {} : { tls }) }),
  start: orcaNode,
}

/** All transports that the soak polls by. */
export const allFaulted: readonly FaultedTransport[] = [overHttp, overAgentCheck, overNodeExporter, overOrca]
