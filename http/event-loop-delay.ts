import { type ELDHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/** A timer that is due every 10 ms and late by the delay of the event loop: Node counts the whole interval. */
const RESOLUTION_MS = 10;
const NANOSECONDS = 1e9;
const QUANTILES = [0.5, 0.9, 0.99, 1];

/** The part of Node's histogram that is read: percentiles of intervals in nanoseconds. */
export type DelayHistogram = Pick<ELDHistogram, 'percentile' | 'reset'>;

let processWide: ELDHistogram | undefined;

/** Measures the event loop of this process from the first call on. */
export function watchEventLoop(): DelayHistogram {
  if (processWide) return processWide;
  processWide = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  processWide.enable();
  return processWide;
}

/** Adds the delay of the event loop since the last scrape to the metrics: for so long requests waited for other work of the process. */
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
