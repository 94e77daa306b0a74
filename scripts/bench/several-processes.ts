import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '../../db/postgres/migrate.ts';
import { openSession } from '../../db/postgres/session.ts';
import { type Cluster, startCluster } from '../postgres/cluster.ts';
import { runLoad } from './load.ts';
import { serverCpu } from './postgres/server-cpu.ts';
import { freePort, type ProcessOptions, type RunningProcess, withProcesses } from './processes.ts';
import { startFlags } from './start-flags.ts';
import { median } from './statistics.ts';
import { environmentOf, prepare, REQUESTS, type Subject } from './subject.ts';

const ROOT = join(import.meta.dirname, '../..');
const SERVER = [...startFlags(ROOT), join(ROOT, 'cli/valetkey.js'), 'serve'];
/** Rounds that are not counted, because a server that has just started still compiles its code. */
const WARM_UP_ROUNDS = 3;

interface Server {
  process: RunningProcess;
  subject: Subject;
  metricsPort: number;
}

/** One side of the comparison. Its servers share the load. */
interface Side {
  name: string;
  servers: Server[];
}

interface Measurement {
  perSecond: number;
  /** Microseconds of processor time per request, of the servers and of PostgreSQL. */
  cpu: number;
  databaseCpu: number;
  /** The share of time in which the event loop was busy, from 0 to 1, for each process. */
  utilization: number[];
}

type Start = (options: ProcessOptions) => Promise<RunningProcess>;

/**
 * Compares one process with two, in alternating rounds: on PostgreSQL, one server with `--processes 2`; and two SQLite
 * servers with their own files, as the upper bound of what two processes could gain on SQLite. `--engine both` compares
 * one process on SQLite with one on PostgreSQL (`make bench-engines`). With `--together` both sides have load at the
 * same time, so that other work on the machine affects the processor time of both; then the rates have no meaning.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      engine: { type: 'string', default: 'postgres' },
      only: { type: 'string', default: 'get-details,get-auth,execute-tool,mcp-2026' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      connections: { type: 'string', default: '32' },
      together: { type: 'boolean', default: false },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-processes-'));
  if (!['postgres', 'sqlite', 'both'].includes(values.engine)) throw new Error(`no engine ${values.engine}`);
  const cluster = values.engine === 'sqlite' ? null : startCluster(['fsync=on', 'full_page_writes=on']);
  try {
    await withProcesses(async (start) => {
      const upstreamFile = join(import.meta.dirname, 'upstream.ts');
      const logFile = join(folder, 'upstream.log');
      const upstream = await start({ args: [upstreamFile], env: {}, readyPath: '/', core: null, logFile });
      const open = (name: string, processes: number, on = cluster) =>
        openServer(start, { folder, name, processes, cluster: on, upstream });
      const sides = {
        postgres: async () => [
          { name: 'one process', servers: [await open('one', 1)] },
          { name: 'two processes', servers: [await open('two', 2)] },
        ],
        sqlite: async () => [
          { name: 'one server', servers: [await open('one', 1)] },
          { name: 'two servers', servers: [await open('left', 1), await open('right', 1)] },
        ],
        both: async () => [
          { name: 'SQLite', servers: [await open('file', 1, null)] },
          { name: 'PostgreSQL', servers: [await open('one', 1)] },
        ],
      };
      const compared: Side[] = await sides[values.engine as keyof typeof sides]();
      for (const operation of values.only.split(','))
        await compare(compared, operation, {
          rounds: Number(values.rounds),
          seconds: Number(values.seconds),
          connections: Number(values.connections),
          isTogether: values.together,
          databaseCpu: () => (cluster ? serverCpu(cluster.data) : 0),
        });
    });
  } finally {
    cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Terms {
  rounds: number;
  seconds: number;
  connections: number;
  /** Whether both sides have load at the same time. */
  isTogether: boolean;
  databaseCpu(): number;
}

async function compare(sides: Side[], operation: string, terms: Terms): Promise<void> {
  const measured = new Map(sides.map(({ name }) => [name, [] as Measurement[]]));
  for (let round = -WARM_UP_ROUNDS; round < terms.rounds; round++) {
    const inTurn = terms.isTogether ? [sides] : (round % 2 === 0 ? sides : sides.toReversed()).map((side) => [side]);
    for (const loaded of inTurn) {
      const results = await Promise.all(loaded.map((side) => measure(side, operation, terms)));
      for (const [place, one] of results.entries()) if (round >= 0) measured.get(loaded[place]?.name ?? '')?.push(one);
    }
  }
  const [first = [], second = []] = [...measured.values()];
  for (const [name, all] of measured) {
    const of = (value: (one: Measurement) => number) => median(all.map(value)).toFixed(0);
    const busy = (all[0]?.utilization ?? []).map((_, place) =>
      median(all.map(({ utilization }) => utilization[place] ?? 0)).toFixed(2),
    );
    console.log(
      `${operation}, ${name}: ${of((one) => one.perSecond)}/s, CPU ${of((one) => one.cpu)} µs, of PostgreSQL ${of((one) => one.databaseCpu)} µs, event loops busy ${busy.join(' and ')}`,
    );
  }
  for (const [what, value] of [
    ['requests', (one: Measurement) => one.perSecond],
    ['CPU', (one: Measurement) => one.cpu],
  ] as const) {
    const ratios = second.map((one, round) => value(one) / value(first[round] as Measurement)).sort((a, b) => a - b);
    console.log(
      `  ${what}, ratio: ${median(ratios).toFixed(2)} (${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)})`,
    );
  }
}

async function measure({ servers }: Side, operation: string, terms: Terms): Promise<Measurement> {
  const build = REQUESTS[operation];
  if (!build) throw new Error(`no operation ${operation}; there are ${Object.keys(REQUESTS).join(', ')}`);
  await Promise.all(servers.map(readUtilization));
  const database = terms.databaseCpu();
  const parts = await Promise.all(
    servers.map(async ({ process, subject }) => {
      let turn = 0;
      const before = process.cpu();
      const result = await runLoad({
        ...{ port: process.port, connections: terms.connections / servers.length, pauseMs: 0, seconds: terms.seconds },
        ...{ warmUpSeconds: 0, token: subject.token, status: 200, onCounted: () => {} },
        request: () => build(subject, turn++),
      });
      return { ...result, cpu: process.cpu() - before };
    }),
  );
  const sum = (value: (part: (typeof parts)[number]) => number) =>
    parts.reduce((total, part) => total + value(part), 0);
  const requests = sum((part) => part.requests);
  return {
    perSecond: sum((part) => part.perSecond),
    cpu: sum((part) => part.cpu) / requests,
    databaseCpu: (terms.databaseCpu() - database) / requests,
    utilization: (await Promise.all(servers.map(readUtilization))).flat(),
  };
}

async function readUtilization({ metricsPort }: Server): Promise<number[]> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return [...text.matchAll(/^valetkey_event_loop_utilization_ratio\S* (\S+)$/gm)].map(([, value]) => Number(value));
}

interface Place {
  folder: string;
  name: string;
  processes: number;
  cluster: Cluster | null;
  upstream: RunningProcess;
}

async function openServer(start: Start, { folder, name, processes, cluster, upstream }: Place): Promise<Server> {
  const metricsPort = await freePort();
  const env = {
    ...environmentOf(join(folder, name), upstream.port),
    ...(cluster && { DATABASE_URL: cluster.url(name) }),
    METRICS_PORT: String(metricsPort),
    VALETKEY_PROCESSES: String(processes),
  };
  if (cluster) await createDatabase(cluster, name, env);
  const options = { env, readyPath: '/readyz', core: null, logFile: join(folder, `${name}.log`) };
  const process = await start({ ...options, args: SERVER });
  return { process, subject: await prepare(process.port), metricsPort };
}

async function createDatabase(cluster: Cluster, name: string, env: Record<string, string>): Promise<void> {
  const session = await openSession(cluster.url('postgres'));
  await session.query({ text: `create database ${name}` });
  await session.close();
  await migrate(cluster.url(name), Date.now);
  const init = spawnSync(process.execPath, [join(ROOT, 'cli/valetkey.js'), 'init'], { env, encoding: 'utf8' });
  if (init.status !== 0) throw new Error(init.stderr);
}

await main();
