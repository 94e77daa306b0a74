import type { Registry } from 'prom-client';

/** What was observed of one operation and status. */
interface Series {
  labels: { operation: string; status: string };
  /** Observations by bucket, the last one for those above every bound. */
  counts: Float64Array;
  sum: number;
}

/**
 * A histogram of seconds by operation and status. It counts by itself and tells the registry when the metrics are read: the library's own
 * puts the labels together, sorts and checks them at every observation, which is a fortieth of the time of a read.
 */
export class DurationHistogram {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Map<number, Series>>();

  /** @param bounds upper bounds of the buckets in seconds, ascending */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
  }

  registerIn(registry: Registry): void {
    registry.registerMetric(this as never);
  }

  observe(operation: string, status: number, seconds: number): void {
    const series = this.#series.get(operation)?.get(status) ?? this.#begin(operation, status);
    let bucket = 0;
    while (bucket < this.#bounds.length && seconds > (this.#bounds[bucket] as number)) bucket++;
    series.counts[bucket] = (series.counts[bucket] as number) + 1;
    series.sum += seconds;
  }

  /** As the registry asks for it. */
  async get() {
    const values = [...this.#series.values()].flatMap((ofOperation) =>
      [...ofOperation.values()].flatMap((s) => this.#valuesOf(s)),
    );
    return { name: this.name, help: this.help, type: this.type, aggregator: this.aggregator, values };
  }

  #begin(operation: string, status: number): Series {
    const counts = new Float64Array(this.#bounds.length + 1);
    const series = { labels: { operation, status: String(status) }, counts, sum: 0 };
    const ofOperation = this.#series.get(operation) ?? new Map<number, Series>();
    this.#series.set(operation, ofOperation.set(status, series));
    return series;
  }

  #valuesOf({ labels, counts, sum }: Series) {
    let count = 0;
    const buckets = [...this.#bounds, '+Inf'].map((le, bucket) => {
      count += counts[bucket] as number;
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
