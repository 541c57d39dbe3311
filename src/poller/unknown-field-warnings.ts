import { shown } from '../errors.js'
import { nearestField } from '../reports/unknown-fields.js'
import { channels, type UnknownFieldsEvent } from '../telemetry.js'
import { warn } from '../warn.js'

/** A node, and the names of fields of its report that are not known. */
export type UnknownFields = readonly [node: string, names: readonly string[]]

const UNKNOWN = 'unknown fields, which are ignored'

/** Nodes that get a warning each; more at once share one. */
const MOST_ALONE = 3

/**
 * Publishes, and warns, that reports of these nodes have unknown fields.
 * @param header the header of the response that the report came in; undefined for one that was polled or pushed
 */
export function reportUnknownFields(
  balancer: string,
  found: readonly UnknownFields[],
  header?: string,
): void {
  const events = found.map(
    ([node, names]): UnknownFieldsEvent => ({
      balancer,
      node,
      header,
      fields: names.map((name) => ({ name, nearest: nearestField(name) })),
    }),
  )
  if (channels.unknownFields.hasSubscribers) for (const event of events) channels.unknownFields.publish(event)
  const send = (text: string) => warn(`${balancer}: ${text}`, 'IDLEST_UNKNOWN_FIELD')
  if (events.length > MOST_ALONE) {
    const some = events.slice(0, MOST_ALONE).map(({ node, fields }) => `${shown(node)}: ${list(fields)}`)
    send(`${events.length} nodes report ${UNKNOWN}, such as ${some.join('; ')}`)
  } else {
    for (const { node, fields } of events) send(`node ${shown(node)} reports ${UNKNOWN}: ${list(fields)}`)
  }
}

function list(fields: UnknownFieldsEvent['fields']): string {
  return fields
    .map(({ name, nearest }) => `${shown(name)} (the nearest known field is ${shown(nearest)})`)
    .join(', ')
}
