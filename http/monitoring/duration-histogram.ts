import type { Registry } from 'prom-client';

/** The observations with one pair of labels. */
interface Series {
  labels: Record<string, string>;
  /** Observations by bucket; the last bucket contains those above every bound. */
  counts: Float64Array;
  sum: number;
}

/**
 * A histogram of seconds with two labels, for prom-client. It replaces the histogram of that library, which joins,
 * sorts and checks the labels at every observation. That takes a fortieth of the time of a read request.
 */
export class DurationHistogram {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly labelNames: readonly [string, string];
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Map<string | number, Series>>();

  /** @param bounds upper bounds of the buckets in seconds, ascending */
  constructor(name: string, help: string, labelNames: readonly [string, string], bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
    this.#bounds = bounds;
  }

  registerIn(registry: Registry): void {
    registry.registerMetric(this as never);
  }

  observe(first: string, second: string | number, seconds: number): void {
    const series = this.#series.get(first)?.get(second) ?? this.#begin(first, second);
    let bucket = 0;
    while (bucket < this.#bounds.length && seconds > (this.#bounds[bucket] as number)) bucket++;
    series.counts[bucket] = (series.counts[bucket] as number) + 1;
    series.sum += seconds;
  }

  /** Returns the values in the format of the metrics registry. */
  async get() {
    const series = [...this.#series.values()].flatMap((bySecond) => [...bySecond.values()]);
    const values = series.flatMap((one) => this.#valuesOf(one));
    return { name: this.name, help: this.help, type: this.type, aggregator: this.aggregator, values };
  }

  #begin(first: string, second: string | number): Series {
    const [firstName, secondName] = this.labelNames;
    const labels = { [firstName]: first, [secondName]: String(second) };
    const series = { labels, counts: new Float64Array(this.#bounds.length + 1), sum: 0 };
    const bySecond = this.#series.get(first) ?? new Map<string | number, Series>();
    this.#series.set(first, bySecond.set(second, series));
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
