import type { BenchRequest } from './calls.ts';
import { type LoadResult, runLoad } from './load.ts';
import type { Operation, Subjects } from './operations.ts';
import type { Options } from './options.ts';
import type { RunningProcess } from './processes.ts';
import type { Sample } from './statistics.ts';

export interface Servers {
  server: RunningProcess;
  ceiling: RunningProcess;
  upstream: RunningProcess;
}

/** One of the servers that an operation is measured on. */
export interface Side {
  label: string;
  process: RunningProcess;
  request(): BenchRequest;
}

const OURS = 'server';

/** Returns the server first, then the servers that it is compared with. */
export function sidesOf(operation: Operation, servers: Servers, subjects: Subjects): Side[] {
  const ours = { label: OURS, process: servers.server, request: () => operation.request(subjects) };
  const others = operation.counterparts.map(({ label, server, prefix = '' }) => ({
    label,
    process: servers[server],
    request: () => {
      const request = operation.direct ?? operation.request(subjects);
      return { ...request, path: prefix + request.path };
    },
  }));
  return [ours, ...others];
}

/** Puts one side of an operation under load and returns the result. */
export async function measure(
  operation: Operation,
  side: Side,
  token: string,
  options: Pick<Options, 'seconds' | 'warmUpSeconds'>,
): Promise<Sample> {
  const cpu: number[] = [];
  const result: LoadResult = await runLoad({
    port: side.process.port,
    connections: operation.connections,
    pauseMs: operation.pauseMs ?? 0,
    seconds: options.seconds,
    warmUpSeconds: options.warmUpSeconds,
    token,
    status: operation.status,
    request: side.request,
    onCounted: () => cpu.push(side.process.cpu()),
  });
  const spent = (cpu[1] ?? Number.NaN) - (cpu[0] ?? Number.NaN);
  return { perSecond: result.perSecond, p50: result.p50, p99: result.p99, cpuPerRequest: spent / result.requests };
}
