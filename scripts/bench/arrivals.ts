import type { Servers } from './measure.ts';
import { type OpenLoad, type OpenResult, runOpenLoad } from './open-loop.ts';
import { OPERATIONS, type Operation, type Subjects } from './operations.ts';
import type { RunningProcess } from './processes.ts';
import { median } from './statistics.ts';

/** The operations whose latency is measured at a fixed rate: calls to a provider, and one that only reads. */
const MEASURED = ['get-auth', 'execute-tool', 'proxy', 'mcp-2026', 'mcp-2025'];
const PATTERNS: readonly Pick<OpenLoad, 'rate' | 'arrivals'>[] = [
  { rate: 300, arrivals: 'constant' },
  { rate: 300, arrivals: 'poisson' },
  { rate: 600, arrivals: 'constant' },
];

interface Row {
  name: string;
  pattern: string;
  result: OpenResult[];
  direct: OpenResult[];
}

/**
 * Measures latency as callers feel it: requests arrive at a fixed rate, evenly or as a Poisson process, and each one is
 * timed from when it should have been sent. The report also shows how much later the 50th and 99th percentiles are than
 * those of the same call without the server.
 */
export async function measureArrivals(
  operations: readonly Operation[],
  servers: Servers,
  subjects: Subjects,
  token: string,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<string> {
  const chosen = OPERATIONS.filter((operation) => MEASURED.includes(operation.name) && operations.includes(operation));
  const rows: Row[] = chosen.flatMap(({ name }) =>
    PATTERNS.map(({ rate, arrivals }) => ({ name, pattern: `${rate}/s ${arrivals}`, result: [], direct: [] })),
  );
  for (let round = 0; round < rounds; round++) {
    let place = 0;
    for (const operation of chosen) {
      for (const pattern of PATTERNS) {
        const row = rows[place++] as Row;
        const run = (process: RunningProcess, request: OpenLoad['request']) =>
          runOpenLoad({ ...pattern, seconds, port: process.port, token, status: operation.status, request });
        row.result.push(await run(servers.server, () => operation.request(subjects)));
        const { direct } = operation;
        if (direct) row.direct.push(await run(servers.upstream, () => direct));
      }
    }
  }
  const lines = rows.map(({ name, pattern, result, direct }) => {
    const of = (key: 'p50' | 'p99' | 'max' | 'late' | 'refused') => median(result.map((each) => each[key]));
    const added = (key: 'p50' | 'p99') =>
      direct.length === 0
        ? ''
        : `, +${median(result.map((each, at) => each[key] - (direct[at] as OpenResult)[key])).toFixed(1)}`;
    return `${name.padEnd(14)} ${pattern.padEnd(16)} p50 ${of('p50').toFixed(1)} ms${added('p50')}; p99 ${of('p99').toFixed(1)} ms${added('p99')}; longest ${of('max').toFixed(0)} ms; sent late at p99 ${of('late').toFixed(1)} ms; rejected ${of('refused')}`;
  });
  return [
    'Open loop: timed from when a request should have been sent; + is what the server adds to a direct call',
    ...lines,
  ].join('\n');
}
