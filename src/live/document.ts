import { setImmediate as nextTurn } from 'node:timers/promises'
import { Reasons } from '../balancer/reasons.js'
import { nodeFrom } from './columns.js'
import type { Look } from './looks.js'
import { completed, type PartialNode } from './view-of.js'

/** So many members are written in one turn of the event loop, which takes some 0.5 ms. */
const MEMBERS_A_TURN = 64

/** Nobody waits any more for what was being written. */
export class Unwanted extends Error {}

/**
 * A look as one JSON document, a `LiveView`, in pieces. Lets the event loop turn while it writes.
 * @param isWanted asked between two turns
 * @throws Unwanted (rejects)
 */
export async function documentOf(look: Look, isWanted: () => boolean): Promise<readonly Buffer[]> {
  const { head, count } = look
  const reasons = new Reasons(head.rules)
  let rates = 0
  // Why one is not picked depends on the others: all have to be seen first.
  await inTurns(count, isWanted, (i) => {
    const node = nodeAt(look, i)
    reasons.note(node)
    rates += node.picksPerSecond
  })
  const pieces: Buffer[] = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"nodes":[`)]
  let texts: string[] = []
  await inTurns(count, isWanted, (i) => {
    const node = nodeAt(look, i)
    texts.push(JSON.stringify(completed(node, reasons.of(node), rates)))
    if (texts.length < MEMBERS_A_TURN && i < count - 1) return
    pieces.push(Buffer.from(texts.join(',') + (i < count - 1 ? ',' : '')))
    texts = []
  })
  pieces.push(Buffer.from(']}'))
  return pieces
}

function nodeAt({ columns }: Look, i: number): PartialNode {
  return nodeFrom((name) => columns.get(name)?.[i] ?? undefined)
}

async function inTurns(count: number, isWanted: () => boolean, each: (i: number) => void): Promise<void> {
  for (let i = 0; i < count; i++) {
    if (i % MEMBERS_A_TURN === 0 && i > 0) {
      await nextTurn()
      if (!isWanted()) throw new Unwanted()
    }
    each(i)
  }
}
