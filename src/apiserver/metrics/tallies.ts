/**
 * Counts that cost a request little. prom-client looks at the name and value of every label each time; here a series is
 * found by one key, and prom-client's form is made when somebody asks for it.
 */
import { Counter, type Metric, type Registry } from 'prom-client'

type Labels = Readonly<Record<string, string | number>>

interface Named {
  name: string
  help: string
  registry: Registry
}

/** Series of a counter by their keys; the same key always stands for the same labels. */
export class CounterTally {
  readonly #waiting = new Map<string, { labels: Labels; count: number }>()

  constructor({ name, help, registry, labelNames }: Named & { labelNames: readonly string[] }) {
    const waiting = this.#waiting
    new Counter({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        for (const series of waiting.values()) {
          this.inc(series.labels, series.count)
          series.count = 0
        }
      },
    })
  }

  count(key: string, labels: () => Labels): void {
    const known = this.#waiting.get(key)
    if (known) known.count += 1
    else this.#waiting.set(key, { labels: labels(), count: 1 })
  }
}

interface Series {
  labels: Labels
  /** Values up to each bound, and those above all. */
  counts: number[]
  sum: number
}

/** Series of a histogram by their keys. */
export class HistogramTally {
  readonly #series = new Map<string, Series>()
  readonly #bounds: readonly number[]

  constructor({
    name,
    help,
    registry,
    buckets,
    labelNames,
  }: Named & { buckets: readonly number[]; labelNames: readonly string[] }) {
    this.#bounds = buckets
    const get = async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: this.#values(name) })
    // What a registry asks of a metric; its type knows prom-client's own alone.
    const metric = { name, help, type: 'histogram', labelNames, get, reset: () => this.#series.clear() }
    registry.registerMetric(metric as unknown as Metric)
  }

  observe(key: string, labels: () => Labels, value: number): void {
    let series = this.#series.get(key)
    if (!series) {
      series = { labels: labels(), counts: Array(this.#bounds.length + 1).fill(0), sum: 0 }
      this.#series.set(key, series)
    }
    let bucket = 0
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? 0)) bucket += 1
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
    series.sum += value
  }

  #values(name: string) {
    return [...this.#series.values()].flatMap(({ labels, counts, sum }) => {
      let count = 0
      const buckets = counts.map((inBucket, index) => {
        count += inBucket
        return {
          metricName: `${name}_bucket`,
          labels: { le: this.#bounds[index] ?? '+Inf', ...labels },
          value: count,
        }
      })
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ]
    })
  }
}
