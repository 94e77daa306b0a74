import { type Context, ROOT_CONTEXT } from '@opentelemetry/api';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { TELEMETRY } from '../../core/budgets.ts';
import { programVersion } from '../../core/program-version.ts';
import { withinLimit } from '../../core/scheduling/timers.ts';
import type { TelemetryConfig } from '../../http/config/telemetry.ts';
import type { Runtime } from '../runtime.ts';
import { sendLine } from './logs.ts';
import { createMetricProducer } from './metrics.ts';
import { reporting } from './reporting.ts';
import { recordSpans } from './spans.ts';

export interface Exports {
  /** Receives each line of the log; undefined if logs are not sent. */
  line: ((text: string) => void) | undefined;
  /** Sends the queued data, but does not wait long for a collector that does not respond. */
  stop(): Promise<void>;
}

/**
 * Starts to send traces, metrics and logs to the collector. Only this folder loads OpenTelemetry, and only if it is
 * configured. Data that the collector does not accept in time is dropped, because the queues are bounded.
 */
export function startExports(
  config: TelemetryConfig,
  { metrics, log, now }: Pick<Runtime, 'metrics' | 'log' | 'now'>,
): Exports {
  const resource = resourceFromAttributes({ 'service.name': 'valetkey', 'service.version': programVersion() }).merge(
    detectResources({ detectors: [envDetector] }),
  );
  const queue = {
    maxQueueSize: TELEMETRY.queued,
    maxExportBatchSize: TELEMETRY.batch,
    scheduledDelayMillis: TELEMETRY.delayMs,
    exportTimeoutMillis: TELEMETRY.exportMs,
  };
  const closing: (() => Promise<void> | void)[] = [];
  let active = (): Context => ROOT_CONTEXT;
  let line: Exports['line'];

  if (config.traces) {
    const exporter = reporting('traces', new OTLPTraceExporter(), log);
    const provider = new TracerProvider({
      resource,
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(config.sampledShare) }),
      spanProcessors: [new BatchSpanProcessor({ exporter, ...queue })],
    });
    const recording = recordSpans(provider.getTracer('valetkey', programVersion()));
    ({ active } = recording);
    closing.push(recording.stop, () => provider.shutdown());
  }
  if (config.metrics) {
    const reader = new PeriodicExportingMetricReader({
      exporter: reporting('metrics', new OTLPMetricExporter(), log),
      exportIntervalMillis: config.metricIntervalMs,
      exportTimeoutMillis: Math.min(TELEMETRY.exportMs, config.metricIntervalMs),
      metricProducers: [createMetricProducer(metrics.registry, resource, now)],
    });
    const provider = new MeterProvider({ resource, readers: [reader] });
    closing.push(() => provider.shutdown());
  }
  if (config.logs) {
    // Failures to send logs are not logged, because each would be another log record to send.
    const processor = new BatchLogRecordProcessor({ exporter: new OTLPLogExporter(), ...queue });
    const provider = new LoggerProvider({ resource, processors: [processor] });
    const logger = provider.getLogger('valetkey', programVersion());
    line = (text) => sendLine(logger, text, active());
    closing.push(() => provider.shutdown());
  }
  return {
    line,
    async stop() {
      await withinLimit(Promise.allSettled(closing.map((close) => close())), TELEMETRY.stopMs);
    },
  };
}
