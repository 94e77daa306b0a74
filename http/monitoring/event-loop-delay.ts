import { type ELDHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/** The interval of the measuring timer. Node records the time between two ticks, so this part must be subtracted. */
const RESOLUTION_MS = 10;
const NANOSECONDS = 1e9;
const QUANTILES = [0.5, 0.9, 0.99, 1];

/** The part of Node's histogram that is used: percentiles of intervals in nanoseconds. */
export type DelayHistogram = Pick<ELDHistogram, 'percentile' | 'reset'>;

let processWide: ELDHistogram | undefined;

/** Measures the event loop of this process from the first call on. */
export function watchEventLoop(): DelayHistogram {
  if (processWide) return processWide;
  processWide = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  processWide.enable();
  return processWide;
}

/**
 * Adds the event-loop delay since the last scrape to the metrics. Requests have waited this long for other work of the
 * process.
 */
export function showEventLoopDelay(registry: Registry, histogram: DelayHistogram): void {
  new Gauge({
    name: 'valetkey_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape, by quantile; 1 is the longest',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      for (const quantile of QUANTILES) {
        const interval = histogram.percentile(quantile * 100) / NANOSECONDS;
        this.set({ quantile }, Math.max(0, interval - RESOLUTION_MS / 1000));
      }
      histogram.reset();
    },
  });
}

/**
 * Adds the share of time since the last scrape in which the event loop was busy. A process near 1 serves as much as it
 * can.
 */
export function showEventLoopUtilization(registry: Registry, measure = performance.eventLoopUtilization): void {
  let last = measure();
  new Gauge({
    name: 'valetkey_event_loop_utilization_ratio',
    help: 'Share of time since the last scrape in which the event loop was busy, from 0 to 1',
    registers: [registry],
    collect() {
      const now = measure();
      this.set(measure(now, last).utilization);
      last = now;
    },
  });
}
