import { existsSync, readFileSync } from 'node:fs';
import { DIRECT } from '../calls.ts';
import { type OpenLoad, type OpenResult, runOpenLoad } from '../open-loop.ts';
import type { RunningProcess } from '../processes.ts';
import { median } from '../statistics.ts';
import { REQUESTS } from '../subject.ts';
import type { Stop } from './loop-watch.ts';
import type { Side } from './side.ts';

const OPERATIONS = ['get-auth', 'execute-tool', 'proxy', 'mcp-2026', 'mcp-2025'];
const PATTERNS: readonly Pick<OpenLoad, 'rate' | 'arrivals'>[] = [
  { rate: 300, arrivals: 'poisson' },
  { rate: 600, arrivals: 'constant' },
];

interface Run {
  result: OpenResult;
  stops: Stop[];
}

/**
 * Measures latency as callers feel it, and the pauses of the event loop at the same time. `added at p99` is the 99th
 * percentile minus that of the same call without a server in the same round.
 */
export async function measureTail(
  sides: readonly Side[],
  upstream: RunningProcess,
  rounds: number,
  seconds: number,
): Promise<string[][]> {
  const rows = OPERATIONS.flatMap((operation) =>
    PATTERNS.flatMap((pattern) => sides.map((side) => ({ operation, pattern, side, runs: [] as Run[] }))),
  );
  const direct = PATTERNS.map((): OpenResult[] => []);
  let turn = 0;
  for (let round = 0; round < rounds; round++) {
    for (const [place, pattern] of PATTERNS.entries()) {
      const load = { ...pattern, seconds, port: upstream.port, token: '', status: 200, request: () => DIRECT };
      direct[place]?.push(await runOpenLoad(load));
    }
    for (const { operation, pattern, side, runs } of round % 2 === 0 ? rows : rows.toReversed()) {
      const build = REQUESTS[operation];
      if (!build) throw new Error(`no operation ${operation}`);
      const { process, subject } = side;
      const from = Date.now();
      const request = () => build(subject, turn++);
      const { port } = process;
      const result = await runOpenLoad({ ...pattern, seconds, port, token: subject.token, status: 200, request });
      runs.push({ result, stops: stopsSince(side.stopsFile, from) });
    }
  }
  const table = rows.map(({ operation, pattern, side, runs }) => {
    const of = (key: keyof OpenResult) => runs.map(({ result }) => result[key]);
    const without = direct[PATTERNS.indexOf(pattern)] ?? [];
    const added = runs.map(({ result }, round) => result.p99 - (without[round]?.p99 ?? Number.NaN));
    return [
      `${operation}, ${pattern.rate}/s ${pattern.arrivals}`,
      side.name,
      ...[of('p50'), of('p99'), added, of('p999'), of('max'), of('late')].map((values) => median(values).toFixed(1)),
      String(Math.max(...of('refused'))),
      ...shown(runs.flatMap(({ stops }) => stops)),
    ];
  });
  return [
    [
      '',
      'version',
      'p50 ms',
      'p99',
      'added at p99',
      'p99.9',
      'longest',
      'sent late, p99',
      'rejected',
      'longest stop of the event loop, ms',
      'longest run without a pause, ms',
      'stops',
    ],
    ...table,
  ];
}

function stopsSince(file: string, from: number): Stop[] {
  if (!existsSync(file)) return [];
  const stops = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Stop);
  return stops.filter(({ at }) => at >= from);
}

/**
 * Describes the delays of the event loop in three columns: the longest delay and what the main thread did in it, the
 * longest time that the main thread ran within one delay, and the number of delays.
 */
function shown(stops: readonly Stop[]): string[] {
  const [longest] = stops.toSorted((a, b) => b.lateMs - a.lateMs);
  if (!longest) return ['below 4 ms', '', '0'];
  const { lateMs, ranMs, queuedMs, collectedMs } = longest;
  const [late, ran, queued, collected] = [lateMs, ranMs, queuedMs, collectedMs].map((ms) => ms.toFixed(0));
  const ranLongest = Math.max(...stops.map((stop) => stop.ranMs)).toFixed(0);
  return [`${late}: ran ${ran} (garbage ${collected}), queued ${queued}`, ranLongest, String(stops.length)];
}
