import { Counter, Gauge, Registry } from 'prom-client';
import { PROCESSES } from '../../core/budgets.ts';
import { withinLimit } from '../../core/scheduling/timers.ts';
import type { FromProcess } from './messages.ts';
import type { OneProcess } from './one-process.ts';

/**
 * The metrics of all processes of a server, and those of their parent. The metrics of each process have its number as
 * the label `process`. They are not added up, because the counters of a process start at 0 when it is started again.
 */
export interface ProcessMetrics extends Pick<Registry, 'metrics' | 'contentType'> {
  /** Receives the metrics of a process. */
  received(message: Extract<FromProcess, { kind: 'metrics' }>): void;
  /** Counts a process that ended. */
  lost(): void;
}

export function createProcessMetrics(ready: () => OneProcess[]): ProcessMetrics {
  const registry = new Registry();
  new Gauge({
    name: 'valetkey_processes_ready',
    help: 'Processes of the server that are ready',
    registers: [registry],
    collect() {
      this.set(ready().length);
    },
  });
  const lost = new Counter({
    name: 'valetkey_processes_lost_total',
    help: 'Processes of the server that ended although it was not stopped, and were started again',
    registers: [registry],
  });
  const awaited = new Map<number, (text: string | null) => void>();
  let last = 0;

  async function ask(one: OneProcess): Promise<string | null> {
    const id = ++last;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    awaited.set(id, resolve);
    one.tell({ kind: 'metrics', id });
    const hasAnswered = await withinLimit(promise, PROCESSES.metricsMs);
    awaited.delete(id);
    resolve(null);
    return hasAnswered ? promise : null;
  }

  return {
    contentType: registry.contentType,
    async metrics() {
      const texts = await Promise.all([registry.metrics(), ...ready().map(ask)]);
      return joinMetrics(texts.filter((text) => text !== null));
    },
    received: ({ id, text }) => awaited.get(id)?.(text),
    lost: () => lost.inc(),
  };
}

/** Joins metrics in the text format of Prometheus, which requires all values of a metric to be next to each other. */
export function joinMetrics(texts: readonly string[]): string {
  const metrics = new Map<string, string[]>();
  for (const text of texts) {
    let lines: string[] = [];
    for (const line of text.split('\n')) {
      const [, name] = /^# HELP (\S+)/.exec(line) ?? [];
      if (name !== undefined) {
        lines = metrics.get(name) ?? [];
        metrics.set(name, lines);
      }
      const isKnown = line.startsWith('#') && lines.includes(line);
      if (line !== '' && !isKnown) lines.push(line);
    }
  }
  return `${[...metrics.values()].map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
