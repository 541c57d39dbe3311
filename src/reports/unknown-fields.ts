import { nearestName } from '../nearest.js'
import { AGE, camel, METRIC_FIELDS, NAMED_METRICS, ORCA_MAPS, ORCA_NUMBERS } from './orca-fields.js'

/** Most unknown fields of a report that are named. */
const MOST = 3
/** Of the name of one, UTF-16 units. */
const LONGEST = 60

/** Adds the name of an unknown field of one report, which a peer wrote: the first few alone are kept, and cut. */
export function addUnknown(unknown: string[], name: string): void {
  if (unknown.length < MOST) unknown.push(name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name)
}

const MAPS: readonly string[] = ORCA_MAPS.map(({ wire }) => wire)

// What someone may write for a field, and its right name, which all forms that have names take.
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ...[...ORCA_NUMBERS, { wire: AGE }].flatMap(({ wire }) => [
    [wire, wire] as const,
    [camel(wire), wire] as const,
  ]),
  ...ORCA_NUMBERS.map(({ field, wire }) => [field, wire] as const),
  ...METRIC_FIELDS.filter(([, metric]) => metric !== AGE).flatMap(([field, metric]) => {
    const place = `${NAMED_METRICS.wire}.${metric}`
    return [[field, place] as const, [metric, place] as const]
  }),
  ...MAPS.flatMap((wire) => [[wire, wire] as const, [camel(wire), wire] as const]),
])
const SPELLED = [...SPELLINGS.keys()]

/** The known name of a field that is nearest to one that is not known. */
export function nearestField(name: string): string {
  const [map = name, entry] = name.split('.', 2)
  if (entry !== undefined) return nearestName(map, MAPS)
  // In TEXT a map is known by its entries alone.
  if (MAPS.includes(name)) return `${name}.NAME`
  return SPELLINGS.get(nearestName(name, SPELLED)) as string
}
