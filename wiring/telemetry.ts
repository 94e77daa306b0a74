import type { Runtime } from './runtime.ts';
import type { Setup } from './setup.ts';

/** Starts to send traces, metrics and logs if a collector is configured. OpenTelemetry is loaded only in that case. */
export async function startTelemetry(
  { config, closing }: Pick<Setup, 'config' | 'closing'>,
  parts: Pick<Runtime, 'log' | 'teeLog' | 'metrics' | 'now'>,
): Promise<void> {
  if (!config.telemetry) return;
  const { startExports } = await import('./telemetry/start.ts');
  const exports = startExports(config.telemetry, parts);
  if (exports.line) parts.teeLog(exports.line);
  closing.defer(exports.stop);
}
