// The nodes of the scene, by gRPC: `nodes.ts GOOD`. One for each nine good ones is hostile, of all kinds alternately. Tells
// their addresses.
import { writeOrcaBinary } from '../../../dist/reports/orca-binary.js'
import { FRAME_FLOODS, messageFlood, rightNode, WRONG_ANSWERS } from '../../support/hostile-grpc.js'
import { INTERVAL, type SceneNodes } from './scene.js'

const [good = 0] = process.argv.slice(2).map(Number)
const report = Buffer.from(writeOrcaBinary({ cpu: 40 }))
const kinds = [...FRAME_FLOODS, messageFlood(report), ...WRONG_ANSWERS]
const idOf = ({ port }: { readonly port: number }) => `127.0.0.1:${port}`

const nodes: SceneNodes = {
  good: (await Promise.all(Array.from({ length: good }, () => rightNode(report, INTERVAL)))).map(idOf),
  hostile: (
    await Promise.all(
      Array.from({ length: Math.ceil(good / 9) }, (_, i) =>
        (kinds[i % kinds.length] ?? messageFlood(report)).start(),
      ),
    )
  ).map(idOf),
}
process.send?.(nodes)
process.on('disconnect', () => process.exit())
