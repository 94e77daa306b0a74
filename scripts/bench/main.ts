import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { measureArrivals } from './arrivals.ts';
import { mcpSubject } from './calls.ts';
import { useEverything } from './everything.ts';
import { measure, type Servers, sidesOf } from './measure.ts';
import { newAccount, type Operation, type Subjects, UPSTREAM_ORIGIN } from './operations.ts';
import { type Options, readOptions } from './options.ts';
import { builtServer, canPin, pinSelf, type RunningProcess, withProcesses } from './processes.ts';
import { type Measured, tableOf } from './report.ts';
import { seed } from './seed.ts';
import { startFlags } from './start-flags.ts';
import { median, type Sample } from './statistics.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Without these options the server takes 60 MB more and is not faster. */
const START_FLAGS = startFlags(ROOT);
const START_ENV = { MALLOC_ARENA_MAX: '1' };
const SERVER_CORE = 0;
const LOAD_CORE = 1;
const CLIENT = { id: 'bench-client', secret: 'vks_bench-client-secret-0123456789' };

type Start = Parameters<Parameters<typeof withProcesses>[0]>[0];

/**
 * `make bench`: compares the server with the minimal server that does the same work, in alternating measurements on
 * this machine.
 */
async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  pinSelf(LOAD_CORE);
  console.log(canPin ? 'Servers on core 0, load on core 1.' : 'Processes cannot be kept on cores here: expect noise.');
  // The data directory is used instead of the system's temporary folder, which may be in memory, where commits cost
  // nothing.
  mkdirSync(join(ROOT, 'data'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'data', 'bench-'));
  try {
    await withProcesses((start) => run(options, folder, start));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(options: Options, folder: string, startProcess: Start): Promise<void> {
  const start = (name: string, args: string[], readyPath: string, env: Record<string, string> = {}) => {
    const core = name === 'upstream' ? LOAD_CORE : SERVER_CORE;
    return startProcess({ args, env, readyPath, core, logFile: join(folder, `${name}.log`) });
  };
  const upstream = await start('upstream', [join(import.meta.dirname, 'upstream.ts')], '/');
  const env = environmentOf(folder, upstream.port);
  console.log(`Seeding ${options.accounts} accounts ...`);
  const { accountIds, connectionId, token } = await seed(env, options.accounts);
  const copy = join(folder, 'ceiling.db');
  copyFileSync(join(folder, 'valetkey.db'), copy);

  const built = builtServer(ROOT);
  const startServer = (flags: string[]) =>
    start('server', [...START_FLAGS, ...flags, join(ROOT, 'cli/valetkey.js'), 'serve'], '/readyz', {
      ...START_ENV,
      ...env,
      ...built,
    });
  const readyMs = await startTimes(() => startServer([]), options.starts);
  const profile = options.profileDir
    ? ['--cpu-prof', '--cpu-prof-interval', '200', '--cpu-prof-dir', options.profileDir]
    : [];
  const servers = {
    upstream,
    server: await startServer(profile),
    ceiling: await start('ceiling', [join(import.meta.dirname, 'ceiling.ts')], '/ready', { CEILING_DATABASE: copy }),
  };
  let made = 0;
  const { port } = servers.server;
  const mcp = await mcpSubject(port, token, connectionId, newAccount('user-0000@example.com'));
  const subjects = { ...mcp, accountIds, clientId: CLIENT.id, clientSecret: CLIENT.secret, next: () => made++ };
  const results = await runRounds(options, servers, subjects, token);

  console.log(`\n${tableOf(results)}\n`);
  console.log(`${await measureArrivals(options.operations, servers, subjects, token, options)}\n`);
  console.log(`memory of the server after the run: ${servers.server.rss().toFixed(0)} MB (goal: < 160 MB)`);
  await useEverything(port, token, mcp);
  console.log(`memory after every part was used: ${servers.server.rss().toFixed(0)} MB (goal: < 150 MB)`);
  console.log(`start to first response: ${readyMs.toFixed(0)} ms, median of ${options.starts} (goal: < 700 ms)`);
}

/**
 * Measures every operation once per round. The order of the sides alternates, so that a temporarily slow machine
 * affects both.
 */
async function runRounds(
  options: Options,
  servers: Servers,
  subjects: Subjects,
  token: string,
): Promise<{ operation: Operation; sides: Measured[] }[]> {
  const results = options.operations.map((operation) => {
    const sides = sidesOf(operation, servers, subjects).map((side) => ({ ...side, samples: [] as Sample[] }));
    return { operation, sides };
  });
  for (const { operation, sides } of results) {
    const rehearsal = { seconds: options.rehearsalSeconds, warmUpSeconds: 0 };
    for (const side of sides) await measure(operation, side, token, rehearsal);
  }
  for (let round = 0; round < options.rounds; round++) {
    for (const { operation, sides } of results) {
      const order = round % 2 === 0 ? sides : sides.toReversed();
      for (const side of order) side.samples.push(await measure(operation, side, token, options));
      const shown = sides.map(({ label, samples }) => `${label} ${samples.at(-1)?.perSecond.toFixed(0)}/s`);
      console.log(`round ${round + 1} ${operation.name}: ${shown.join(', ')}`);
    }
  }
  return results;
}

async function startTimes(startServer: () => Promise<RunningProcess>, times: number): Promise<number> {
  const found: number[] = [];
  for (let time = 0; time < times; time++) {
    const server = await startServer();
    found.push(server.readyMs);
    await server.stop();
  }
  return median(found);
}

function environmentOf(folder: string, upstreamPort: number): Record<string, string> {
  return {
    DATA_DIR: folder,
    BASE_URL: 'http://localhost',
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
    VALETKEY_RATE_LIMIT: 'off',
    VALETKEY_CLIENT_ID: CLIENT.id,
    VALETKEY_CLIENT_SECRET: CLIENT.secret,
    VALETKEY_ENDPOINT_OVERRIDES: `${UPSTREAM_ORIGIN}=http://127.0.0.1:${upstreamPort}`,
  };
}

await main();
