/** The results of one measurement. */
export interface Sample {
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Microseconds of the server's processor time per request; NaN if the system does not provide it. */
  cpuPerRequest: number;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * Returns the value below which the given share of the values is.
 *
 * @param sorted in ascending order
 * @param share from 0 to 1
 */
export function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Returns the median of each figure over the rounds. */
export function medianSample(samples: readonly Sample[]): Sample {
  const of = (name: keyof Sample) => median(samples.map((sample) => sample[name]));
  return { perSecond: of('perSecond'), p50: of('p50'), p99: of('p99'), cpuPerRequest: of('cpuPerRequest') };
}
