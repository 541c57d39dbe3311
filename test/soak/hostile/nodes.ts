// The nodes of the scene: `nodes.ts TRANSPORT GOOD`. One for each nine good ones is hostile, of all kinds alternately. Tells
// their addresses.
import { writeOrcaBinary } from '../../../dist/reports/orca-binary.js'
import {
  FRAME_FLOODS,
  type HostileKind,
  type HostileNode,
  messageFlood,
  rightNode,
  WRONG_ANSWERS,
} from '../../support/hostile-grpc.js'
import { HTTP_KINDS, PAGE_KINDS } from '../../support/hostile-http.js'
import { exportingNode, reportingNode } from './good.js'
import { INTERVAL, type SceneNodes, type SceneTransport } from './scene.js'

const [transport = 'grpc', count = 0] = process.argv.slice(2)
const good = Number(count)
const report = Buffer.from(writeOrcaBinary({ cpu: 40 }))

interface Fleet {
  readonly right: () => Promise<HostileNode>
  readonly kinds: readonly HostileKind[]
}

const fleets: Record<SceneTransport, Fleet> = {
  grpc: {
    right: () => rightNode(report, INTERVAL),
    kinds: [...FRAME_FLOODS, messageFlood(report), ...WRONG_ANSWERS],
  },
  http: { right: reportingNode, kinds: HTTP_KINDS },
  'node-exporter': { right: exportingNode, kinds: [...PAGE_KINDS, ...HTTP_KINDS] },
}

const { right, kinds } = fleets[transport as SceneTransport]
const addresses = async (nodes: Promise<HostileNode>[]) =>
  (await Promise.all(nodes)).map(({ port }) => `127.0.0.1:${port}`)
const hostile = Array.from({ length: Math.ceil(good / 9) }, (_, i) => kinds[i % kinds.length] as HostileKind)
const nodes: SceneNodes = {
  good: await addresses(Array.from({ length: good }, right)),
  hostile: await addresses(hostile.map((kind) => kind.start())),
}
process.send?.(nodes)
process.on('disconnect', () => process.exit())
