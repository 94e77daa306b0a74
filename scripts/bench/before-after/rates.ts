import type { BenchRequest } from '../calls.ts';
import { runLoad } from '../load.ts';
import { newAccount } from '../operations.ts';
import { median } from '../statistics.ts';
import { REQUESTS, type Subject } from '../subject.ts';
import type { Side } from './side.ts';
import { range, ratios } from './table.ts';

const REHEARSAL_SECONDS = 6;
const WARM_UP_SECONDS = 0.7;

interface Measure {
  operation: string;
  connections: number;
  status?: number;
  request(subject: Subject, turn: number): BenchRequest;
  /** Converts the request for the minimal server; undefined if the operation is not measured there. */
  ceiling?: (request: BenchRequest) => BenchRequest;
}

type Figures = { perSecond: number; cpu: number; p99: number };
const same = (request: BenchRequest) => request;
const grouped = (request: BenchRequest) => ({ ...request, path: `/grouped${request.path}` });
const create: Measure['request'] = (_subject, turn) => ({
  method: 'POST',
  path: '/api/v1/connected_accounts',
  type: 'application/json',
  body: JSON.stringify(newAccount(`new-${turn}@example.com`)),
});
const CALLS = ['execute-tool', 'proxy', 'mcp-2026', 'mcp-2025'];
const MEASURES: readonly Measure[] = [
  ...['get-auth', 'get-details', 'list', ...CALLS].flatMap((operation) =>
    [10, 32].map((connections) => {
      // Raw calls and MCP calls are compared with the tool call of the minimal server, which does the same work.
      const hasCeiling = operation === 'execute-tool' || !CALLS.includes(operation);
      const request = REQUESTS[operation] as Measure['request'];
      return { operation, connections, request, ...(hasCeiling && { ceiling: same }) };
    }),
  ),
  { operation: 'token', connections: 32, request: REQUESTS['token'] as Measure['request'], ceiling: same },
  { operation: 'create', connections: 32, status: 201, request: create, ceiling: grouped },
];

/** Measures each operation on each side once per round. The order of the sides alternates. */
export async function measureRates(sides: Side[], rounds: number, seconds: number): Promise<string[][]> {
  const results = MEASURES.map((measure) => ({ measure, of: { before: [], now: [], ceiling: [] } as Results }));
  let turn = 0;
  const run = async ({ measure, of }: (typeof results)[number], side: Side, counted: number, warmUp: number) => {
    if (side.name === 'ceiling' && !measure.ceiling) return;
    const adapt = side.name === 'ceiling' ? (measure.ceiling ?? same) : same;
    const cpu: number[] = [];
    const load = await runLoad({
      port: side.process.port,
      connections: measure.connections,
      pauseMs: 0,
      seconds: counted,
      warmUpSeconds: warmUp,
      token: side.subject.token,
      status: measure.status ?? 200,
      request: () => adapt(measure.request(side.subject, turn++)),
      onCounted: () => cpu.push(side.process.cpu()),
    });
    const spent = ((cpu[1] ?? Number.NaN) - (cpu[0] ?? Number.NaN)) / load.requests;
    of[side.name].push({ perSecond: load.perSecond, cpu: spent, p99: load.p99 });
  };
  for (const result of results.filter(({ measure }) => measure.connections === 10)) {
    for (const side of sides) await run(result, side, REHEARSAL_SECONDS, 0);
    result.of = { before: [], now: [], ceiling: [] };
  }
  // The last operation creates accounts. It is measured after all others, because it changes the number of accounts.
  for (const chosen of [results.slice(0, -1), results.slice(-1)]) {
    for (let round = 0; round < rounds; round++) {
      for (const result of chosen) {
        const order = round % 2 === 0 ? sides : sides.toReversed();
        for (const side of order) await run(result, side, seconds, WARM_UP_SECONDS);
      }
    }
  }
  return ratesTable(results);
}

type Results = Record<Side['name'], Figures[]>;

function ratesTable(results: { measure: Measure; of: Results }[]): string[][] {
  const perSecond = (of: Results, name: Side['name']) => of[name].map((each) => each.perSecond);
  const find = (operation: string, connections: number) =>
    results.find(({ measure }) => measure.operation === operation && measure.connections === connections)
      ?.of as Results;
  const rows = results.map(({ measure: { operation, connections, ceiling }, of }) => {
    const calls = find('execute-tool', connections);
    const base = ceiling ? of : calls;
    const share = (name: 'before' | 'now') => range(ratios(perSecond(of, name), perSecond(base, 'ceiling')));
    const toTool = (name: 'before' | 'now') =>
      CALLS.includes(operation) ? range(ratios(perSecond(of, name), perSecond(calls, name))) : '';
    const micros = (name: Side['name']) => of[name].map((each) => each.cpu);
    const own = ceiling ? median(micros('ceiling')).toFixed(0) : '';
    return [
      `${operation} @${connections}`,
      ...[share('before'), share('now'), toTool('before'), toTool('now')],
      `${median(micros('before')).toFixed(0)}, ${median(micros('now')).toFixed(0)}, ${own}`.replace(/, $/, ''),
      range(ratios(micros('now'), micros('before'))),
      `${median(of.before.map((each) => each.p99)).toFixed(1)}, ${median(of.now.map((each) => each.p99)).toFixed(1)}`,
    ];
  });
  const head = [
    '',
    '÷ ceiling, before',
    'now',
    '÷ tool call, before',
    'now',
    'CPU µs before, now, ceiling',
    'CPU, now ÷ before',
  ];
  return [[...head, 'p99 ms before, now'], ...rows];
}
