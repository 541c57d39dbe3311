import type { Registry } from 'prom-client'
import { readPrometheus, type Series } from '../../../dist/reports/prometheus.js'

/** What a scrape has of one metric: values by their labels but the balancer's name, such as `a ok`. */
export async function scrape(registry: Registry, name: string): Promise<Record<string, number>> {
  const series = await scrapeAll(registry)
  return Object.fromEntries(
    series
      .filter((one) => one.name === name)
      .map(({ labels, value }) => {
        const { idlest_balancer_name: _, ...others } = labels
        return [Object.values(others).join(' '), value]
      }),
  )
}

/** All series of a scrape. */
export async function scrapeAll(registry: Registry): Promise<Series[]> {
  return [...readPrometheus(await registry.metrics(), () => true)]
}
