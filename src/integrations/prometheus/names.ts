import type { Metric } from '../metrics/catalogue.js'

/**
 * What Prometheus calls a metric: as OpenTelemetry's exporters and collector translate names, so that one dashboard is for
 * both. Units are spelt out, ratios and counters say what they are, and {things} are left out.
 */
export function prometheusName({ name, unit, kind }: Metric): string {
  const words = [prometheusLabel(name)]
  if (unit === 's') words.push('seconds')
  if (unit === '1' && kind === 'gauge') words.push('ratio')
  if (kind === 'counter') words.push('total')
  return words.join('_')
}

/** What Prometheus calls an attribute. */
export function prometheusLabel(attribute: string): string {
  return attribute.replaceAll('.', '_')
}
