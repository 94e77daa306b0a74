import type { ExportResult } from '@opentelemetry/core';
import type { Runtime } from '../runtime.ts';

interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
}

/** Logs the failures of an exporter, without the response of the collector. */
export function reporting<Items, E extends Exporter<Items>>(
  signal: string,
  exporter: E & Exporter<Items>,
  log: Pick<Runtime['log'], 'warn'>,
): E {
  const send = exporter.export.bind(exporter);
  exporter.export = (items, done) =>
    send(items, (result) => {
      const { error } = result;
      if (error)
        log.warn({ signal, code: (error as { code?: unknown }).code }, 'telemetry could not be sent to the collector');
      done(result);
    });
  return exporter;
}
