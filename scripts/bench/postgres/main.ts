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
interface Setting {
  processes: number;
  /** Operations in flight in each process. */
  inFlight: number;
}

/** Settings in which all processes together have the same number of operations in flight. */
const SHARED: readonly Setting[] = [
  { processes: 1, inFlight: 32 },
  { processes: 2, inFlight: 16 },
  { processes: 4, inFlight: 8 },
];
/**
 * Settings in which each process has the same number of operations in flight. Statements and replies that are sent
 * together cost less, so a process with fewer operations in flight needs more time for each. Comparing both kinds of
 * settings separates this effect from contention.
 */
const EACH: readonly Setting[] = [
  { processes: 1, inFlight: 8 },
  { processes: 4, inFlight: 32 },
];
const SETTINGS = [...SHARED, ...EACH];
/** The settings whose CPU time is compared: one process, and four. */
const COMPARED = [
  { of: { processes: 4, inFlight: 8 }, with: { processes: 1, inFlight: 8 } },
  { of: { processes: 4, inFlight: 32 }, with: { processes: 1, inFlight: 32 } },
] as const;
const [ALONE] = SHARED as [Setting];
const MOST_PROCESSES = 4;
const WARM_UP: Setting = { processes: MOST_PROCESSES, inFlight: 8 };
const keyOf = (operation: OperationName, { processes, inFlight }: Setting) => `${operation} ${processes} ${inFlight}`;
/** Unlike in tests, a commit waits for the disk. */
const DURABLE = ['fsync=on', 'full_page_writes=on'];

/** The goals: the minimum ratio of an operation's rate with one process to the rate of `of` in the same round. */
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
  /** Repeated runs per 100 units of work. */
  retries: number;
  failures: number;
}

/**
 * `make bench-postgres`: measures the store on its own PostgreSQL server, and the rates of pgbench on the same
 * server in the same rounds. Compare only the ratios, because other work on the machine changes the absolute rates.
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
    for (let count = 0; count < MOST_PROCESSES; count++) workers.push(await startWorker(location, subjects));

    const rates: Record<string, number[]> = {};
    const measured = new Map<string, Measurement[]>();
    const where = { socket: cluster.socket, database: DATABASE, directory };
    const measure = async (
      operation: OperationName,
      { processes, inFlight }: Setting,
      seconds: number,
    ): Promise<Measurement> => {
      const before = serverCpu(cluster.data);
      const tasks = workers.slice(0, processes).map((worker) => worker.run({ operation, inFlight, seconds }));
      return summaryOf(await Promise.all(tasks), () => serverCpu(cluster.data) - before);
    };
    for (const operation of options.operations) await measure(operation, WARM_UP, options.seconds / 2);
    for (let round = 0; round < options.rounds; round++) {
      for (const baseline of ['select', 'insert'] as const) {
        const rate = await pgbench(baseline, where, options.seconds);
        rates[`pgbench ${baseline}`] = [...(rates[`pgbench ${baseline}`] ?? []), rate];
      }
      for (const operation of options.operations) {
        for (const setting of SETTINGS) {
          const key = keyOf(operation, setting);
          measured.set(key, [...(measured.get(key) ?? []), await measure(operation, setting, options.seconds)]);
        }
        const alone = measured.get(keyOf(operation, ALONE))?.at(-1);
        rates[operation] = [...(rates[operation] ?? []), alone?.rate ?? Number.NaN];
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
    console.log(cells.map((cell, place) => cell.padEnd(place === 0 ? 14 : 13)).join(''));
  console.log(
    `\npgbench: select 1 ${middle(rates['pgbench select'])}/s, one durable insert ${middle(rates['pgbench insert'])}/s\n`,
  );
  line([
    'operation',
    'processes',
    'in flight',
    'per second',
    'client µs',
    'server µs',
    'retries/100',
    'failures',
    'ratio',
  ]);
  for (const operation of operations) {
    for (const setting of SETTINGS) {
      const found = measured.get(keyOf(operation, setting));
      const of = (name: keyof Measurement) => figureOf(found, name);
      const cpu = of('serverCpu');
      const growth = growthOf(operation, setting, measured);
      line([
        setting === ALONE ? operation : '',
        String(setting.processes),
        `${setting.inFlight} each`,
        of('rate').toFixed(0),
        of('clientCpu').toFixed(0),
        `${cpu.toFixed(0)}${growth === undefined ? '' : ` x${growth.toFixed(2)}${growth > MOST_CPU_GROWTH ? ' (!)' : ''}`}`,
        `${of('retries').toFixed(2)}${of('retries') > MOST_RETRIES ? ' (!)' : ''}`,
        of('failures').toFixed(0),
        setting === ALONE ? ratioOf(operation, rates) : '',
      ]);
    }
  }
  console.log(
    '\n(!) misses its target. Server CPU of 4 processes: at most 15 % above that of one with as many operations in flight. Retries: 1 of 100 at most.',
  );
}

/**
 * Returns PostgreSQL's processor time divided by that with one process that has the same number of operations in
 * flight: the median over the rounds. Returns undefined if the setting is not in `COMPARED`.
 */
function growthOf(
  operation: OperationName,
  { processes, inFlight }: Setting,
  measured: Map<string, Measurement[]>,
): number | undefined {
  const pair = COMPARED.find(({ of }) => of.processes === processes && of.inFlight === inFlight);
  if (!pair) return undefined;
  const ones = measured.get(keyOf(operation, pair.with)) ?? [];
  const fours = measured.get(keyOf(operation, pair.of)) ?? [];
  return median(fours.map(({ serverCpu }, round) => serverCpu / (ones[round]?.serverCpu ?? Number.NaN)));
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
    // An operation whose result is a ratio also needs the operation that it is compared with.
    operations: OPERATION_NAMES.filter((name) => !wanted || wanted.includes(name) || name === 'select-1'),
  };
}

await main();
