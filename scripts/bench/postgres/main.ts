import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '../../../db/postgres/migrate.ts';
import { openSession } from '../../../db/postgres/session.ts';
import { startCluster } from '../../postgres/cluster.ts';
import { median } from '../statistics.ts';
import { OPERATION_NAMES, type OperationName } from './operations.ts';
import { type Baseline, BENCH_TABLE, pgbench } from './pgbench.ts';
import { seed } from './seed.ts';
import { serverCpu } from './server-cpu.ts';
import type { TaskResult } from './worker.ts';
import { startWorker, type Worker } from './workers.ts';

const DATABASE = 'postgres';
/** Operations in flight in all processes together. */
const IN_FLIGHT = 32;
const PROCESSES = [1, 2, 4] as const;
/** Unlike in tests, a commit waits for the disk. */
const DURABLE = ['fsync=on', 'full_page_writes=on'];

/** The least ratio of the rate with one process to that of another measurement of the same run. */
const TARGETS: Partial<Record<OperationName, { of: `pgbench ${Baseline}` | OperationName; atLeast: number }>> = {
  'select-1': { of: 'pgbench select', atLeast: 0.3 },
  'get-details': { of: 'select-1', atLeast: 0.25 },
  'get-auth': { of: 'select-1', atLeast: 0.12 },
  list: { of: 'select-1', atLeast: 0.09 },
  insert: { of: 'pgbench insert', atLeast: 0.6 },
  create: { of: 'pgbench insert', atLeast: 0.2 },
};
const MOST_RETRIES = 1;
const MOST_CPU_GROWTH = 1.15;

interface Measurement {
  rate: number;
  clientCpu: number;
  serverCpu: number;
  /** Repeated runs per 100 units. */
  retries: number;
  failures: number;
}

/**
 * `make bench-postgres`: measures the store on its own PostgreSQL server, and the rates of pgbench on the same
 * server in the same rounds. Only ratios count, because the machine has other work.
 */
async function main(): Promise<void> {
  const options = readOptions();
  const directory = mkdtempSync(join(tmpdir(), 'valetkey-bench-'));
  const cluster = startCluster(DURABLE);
  const workers: Worker[] = [];
  try {
    const location = cluster.url(DATABASE);
    await migrate(location, Date.now);
    const session = await openSession(location);
    await session.query({ text: BENCH_TABLE });
    await session.close();
    console.log(`Seeding ${options.accounts} accounts ...`);
    const subjects = await seed(location, options.accounts);
    for (let count = 0; count < Math.max(...PROCESSES); count++) workers.push(await startWorker(location, subjects));

    const rates: Record<string, number[]> = {};
    const measured = new Map<string, Measurement[]>();
    const where = { socket: cluster.socket, database: DATABASE, directory };
    const measure = async (operation: OperationName, processes: number, seconds: number): Promise<Measurement> => {
      const before = serverCpu(cluster.data);
      const inFlight = Math.ceil(IN_FLIGHT / processes);
      const tasks = workers.slice(0, processes).map((worker) => worker.run({ operation, inFlight, seconds }));
      return summaryOf(await Promise.all(tasks), () => serverCpu(cluster.data) - before);
    };
    for (const operation of options.operations) await measure(operation, Math.max(...PROCESSES), options.seconds / 2);
    for (let round = 0; round < options.rounds; round++) {
      for (const baseline of ['select', 'insert'] as const) {
        const rate = await pgbench(baseline, where, options.seconds);
        rates[`pgbench ${baseline}`] = [...(rates[`pgbench ${baseline}`] ?? []), rate];
      }
      for (const operation of options.operations) {
        for (const processes of PROCESSES) {
          const key = `${operation} ${processes}`;
          measured.set(key, [...(measured.get(key) ?? []), await measure(operation, processes, options.seconds)]);
        }
        rates[operation] = [...(rates[operation] ?? []), measured.get(`${operation} 1`)?.at(-1)?.rate ?? Number.NaN];
      }
    }
    report(options.operations, measured, rates);
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    cluster.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function summaryOf(results: TaskResult[], spentCpu: () => number): Measurement {
  const total = (of: (result: TaskResult) => number) => results.reduce((sum, result) => sum + of(result), 0);
  const operations = total((result) => result.operations);
  const [calls, runs] = [total((result) => result.unitCalls), total((result) => result.unitRuns)];
  return {
    rate: total((result) => result.operations / result.seconds),
    clientCpu: total((result) => result.cpuMicroseconds) / operations,
    serverCpu: spentCpu() / operations,
    retries: calls === 0 ? 0 : ((runs - calls) / calls) * 100,
    failures: total((result) => result.failures),
  };
}

function report(
  operations: readonly OperationName[],
  measured: Map<string, Measurement[]>,
  rates: Record<string, number[]>,
): void {
  const line = (cells: readonly string[]) =>
    console.log(cells.map((cell, place) => cell.padEnd(place === 0 ? 14 : 12)).join(''));
  console.log(
    `\npgbench: select 1 ${middle(rates['pgbench select'])}/s, one durable insert ${middle(rates['pgbench insert'])}/s\n`,
  );
  line(['operation', 'processes', 'per second', 'client µs', 'server µs', 'retries/100', 'failures', 'ratio']);
  for (const operation of operations) {
    const alone = figureOf(measured.get(`${operation} 1`), 'serverCpu');
    for (const processes of PROCESSES) {
      const found = measured.get(`${operation} ${processes}`);
      const of = (name: keyof Measurement) => figureOf(found, name);
      const cpu = of('serverCpu');
      const isLate = processes === Math.max(...PROCESSES) && cpu > alone * MOST_CPU_GROWTH;
      line([
        processes === 1 ? operation : '',
        String(processes),
        of('rate').toFixed(0),
        of('clientCpu').toFixed(0),
        `${cpu.toFixed(0)}${isLate ? ' (!)' : ''}`,
        `${of('retries').toFixed(2)}${of('retries') > MOST_RETRIES ? ' (!)' : ''}`,
        of('failures').toFixed(0),
        processes === 1 ? ratioOf(operation, rates) : '',
      ]);
    }
  }
  console.log(
    '\n(!) misses its target. Server CPU of 4 processes: 15 % above that of one at most. Retries: 1 of 100 at most.',
  );
}

function ratioOf(operation: OperationName, rates: Record<string, number[]>): string {
  const target = TARGETS[operation];
  if (!target) return '';
  const own = rates[operation] ?? [];
  const ratio = median(own.map((rate, round) => rate / (rates[target.of]?.[round] ?? Number.NaN)));
  return `${ratio.toFixed(2)} of ${target.of} (target ${target.atLeast})${ratio < target.atLeast ? ' (!)' : ''}`;
}

function figureOf(found: readonly Measurement[] | undefined, name: keyof Measurement): number {
  return median((found ?? []).map((each) => each[name]));
}

function middle(values: readonly number[] | undefined): string {
  return median(values ?? []).toFixed(0);
}

/** @throws Error for an unknown option or operation */
function readOptions() {
  const { values } = parseArgs({
    options: {
      accounts: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '3' },
      only: { type: 'string' },
    },
  });
  const number = (name: 'accounts' | 'rounds' | 'seconds') => {
    const value = Number(values[name]);
    if (!(value > 0)) throw new Error(`--${name}=${values[name]} is not a number above zero`);
    return value;
  };
  const wanted = values.only?.split(',');
  const unknown = wanted?.filter((name) => !OPERATION_NAMES.includes(name as OperationName)) ?? [];
  if (unknown.length > 0)
    throw new Error(`no operation ${unknown.join(', ')}; there are ${OPERATION_NAMES.join(', ')}`);
  return {
    accounts: number('accounts'),
    rounds: number('rounds'),
    seconds: number('seconds'),
    // A ratio needs its counterpart.
    operations: OPERATION_NAMES.filter((name) => !wanted || wanted.includes(name) || name === 'select-1'),
  };
}

await main();
