import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';

type Read = MetricObjectWithValues<MetricValue<string> & { metricName?: string }>;

/** Provides the metrics of `/metrics` to OpenTelemetry, with the same names and labels. */
export function createMetricProducer(registry: Registry, resource: Resource, now: () => number): MetricProducer {
  const startTime = millisToHrTime(now());
  return {
    async collect() {
      const endTime = millisToHrTime(now());
      const read = (await registry.getMetricsAsJSON()) as unknown as Read[];
      const metrics = read.flatMap((metric) => convert(metric, { startTime, endTime }) ?? []);
      return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'valetkey' }, metrics }] }, errors: [] };
    },
  };
}

interface Times {
  startTime: HrTime;
  endTime: HrTime;
}

/** @returns undefined for the type `summary`, which the server does not use */
function convert({ name, help, type, values }: Read, times: Times): MetricData | undefined {
  const descriptor = { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE };
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  const points = () => values.map(({ labels, value }) => ({ ...times, attributes: labels as Attributes, value }));
  switch (String(type)) {
    case 'counter':
      return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() };
    case 'gauge':
      return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() };
    case 'histogram':
      return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(name, values, times) };
    default:
      return undefined;
  }
}

/**
 * Returns one data point for each combination of labels. A bucket of Prometheus also contains the counts of all smaller
 * buckets, which are subtracted.
 */
function histograms(name: string, values: Read['values'], times: Times): DataPoint<Histogram>[] {
  const points = new Map<string, DataPoint<Histogram> & { below: number }>();
  for (const { labels, value, metricName } of values) {
    const { le, ...attributes } = labels as Record<string, string | number>;
    const key = JSON.stringify(attributes);
    const point = points.get(key) ?? {
      ...times,
      attributes,
      below: 0,
      value: { buckets: { boundaries: [], counts: [] }, count: 0, sum: 0 },
    };
    points.set(key, point);
    if (metricName === `${name}_sum`) point.value.sum = value;
    else if (metricName === `${name}_count`) point.value.count = value;
    else {
      if (le !== '+Inf') point.value.buckets.boundaries.push(Number(le));
      point.value.buckets.counts.push(value - point.below);
      point.below = value;
    }
  }
  return [...points.values()].map(({ below: _, ...point }) => point);
}

function unitOf(name: string): string {
  if (name.includes('_seconds')) return 's';
  return name.includes('_bytes') ? 'By' : '';
}
