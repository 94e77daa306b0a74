import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { useEverything } from '../everything.ts';
import { builtServer, canPin, type ProcessOptions, pinSelf, type RunningProcess, withProcesses } from '../processes.ts';
import { startFlags } from '../start-flags.ts';
import { environmentOf, prepare } from '../subject.ts';
import { measureRates } from './rates.ts';
import type { Side } from './side.ts';
import { print, range } from './table.ts';
import { measureTail } from './tail.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SERVER_CORE = 0;
const LOAD_CORE = 1;
const ACCOUNTS = 2_000;

interface Opening {
  folder: string;
  name: string;
  root: string;
  upstream: RunningProcess;
  /** Whether the pauses of the event loop are recorded. Recording them slows the start of the server. */
  watched: boolean;
}

type Start = (options: ProcessOptions) => Promise<RunningProcess>;

/**
 * Compares this checkout with an older one and with the minimal server, in alternating rounds, and prints tables in
 * Markdown: throughput as ratios to the minimal server, processor time, latency at fixed rates with the pauses of the
 * event loop, memory and start. `node scripts/bench/before-after/main.ts --against ../other` takes 22 minutes with 5
 * rounds of 2 seconds; `--only tail` measures a part.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      against: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      only: { type: 'string', default: 'start,rates,tail,memory' },
    },
  });
  if (!values.against) throw new Error('--against must name the folder of another checkout');
  const [rounds, seconds, only] = [Number(values.rounds), Number(values.seconds), values.only.split(',')];
  if (!(rounds > 0 && seconds > 0)) throw new Error('--rounds and --seconds must be numbers above zero');
  pinSelf(LOAD_CORE);
  if (!canPin) console.log('Processes cannot be kept on cores here: expect noise.');
  mkdirSync(join(ROOT, 'data'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'data', 'before-after-'));
  const roots = { before: values.against, now: ROOT };
  try {
    await withProcesses(async (start) => {
      const logFile = join(folder, 'upstream.log');
      const upstreamFile = join(import.meta.dirname, '../upstream.ts');
      const upstream = await start({ args: [upstreamFile], env: {}, readyPath: '/', core: LOAD_CORE, logFile });
      const open = (name: 'before' | 'now', watched = true) =>
        openServer(start, { folder, name, root: roots[name], upstream, watched });
      if (only.includes('start')) print('Start', await measureStarts((name) => open(name, false), rounds));
      const sides: Side[] = [];
      for (const name of ['before', 'now'] as const) {
        const { process, stopsFile } = await open(name);
        sides.push({ name, process, stopsFile, subject: await prepare(process.port, ACCOUNTS) });
      }
      if (only.includes('rates')) {
        const ceiling = await openCeiling(start, folder, upstream, sides[1] as Side);
        print('Rates', await measureRates([...sides, ceiling], rounds, seconds));
        await ceiling.process.stop();
      }
      if (only.includes('tail'))
        print('Latency at fixed rates', await measureTail(sides, upstream, rounds, 2 * seconds));
      if (only.includes('memory')) print('Memory', await measureMemory(sides));
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openServer(start: Start, { folder, name, root, upstream, watched }: Opening) {
  const stopsFile = join(folder, `${name}.stops`);
  const watch = watched ? ['--import', join(import.meta.dirname, 'loop-watch.ts')] : [];
  const process = await start({
    args: [...watch, ...startFlags(root), join(root, 'cli/valetkey.js'), 'serve'],
    env: {
      ...environmentOf(join(folder, name), upstream.port),
      ...builtServer(root),
      MALLOC_ARENA_MAX: '1',
      LOOP_WATCH_FILE: stopsFile,
    },
    readyPath: '/readyz',
    core: SERVER_CORE,
    logFile: join(folder, `${name}.log`),
  });
  return { process, stopsFile };
}

/** The minimal server works on a copy of the data of this checkout. */
async function openCeiling(start: Start, folder: string, upstream: RunningProcess, now: Side): Promise<Side> {
  const copy = join(folder, 'ceiling.db');
  copyFileSync(join(folder, 'now/valetkey.db'), copy);
  copyFileSync(join(folder, 'now/valetkey.db-wal'), `${copy}-wal`);
  const process = await start({
    args: [...startFlags(ROOT), join(import.meta.dirname, '../ceiling.ts')],
    env: { CEILING_DATABASE: copy, CEILING_UPSTREAM_PORT: String(upstream.port), MALLOC_ARENA_MAX: '1' },
    readyPath: '/ready',
    core: SERVER_CORE,
    logFile: join(folder, 'ceiling.log'),
  });
  return { name: 'ceiling', process, subject: now.subject, stopsFile: '' };
}

async function measureStarts(
  open: (name: 'before' | 'now') => Promise<{ process: RunningProcess }>,
  rounds: number,
): Promise<string[][]> {
  const ready = { before: [] as number[], now: [] as number[] };
  const memory = { before: [] as number[], now: [] as number[] };
  const cpu = { before: [] as number[], now: [] as number[] };
  for (let round = -1; round < rounds; round++) {
    for (const name of ['before', 'now'] as const) {
      const { process } = await open(name);
      // The first start is not counted, because it creates the database and the compile cache.
      if (round >= 0) {
        ready[name].push(process.readyMs);
        memory[name].push(process.rss());
        cpu[name].push(process.cpu() / 1000);
      }
      await process.stop();
    }
  }
  const line = (title: string, of: typeof ready) => [title, range(of.before, 0), range(of.now, 0)];
  return [
    ['', 'before', 'now'],
    line('start to ready, ms', ready),
    line('processor time until ready, ms', cpu),
    line('memory when ready, MB', memory),
  ];
}

async function measureMemory(sides: Side[]): Promise<string[][]> {
  const loaded = sides.map(({ process }) => process.rss().toFixed(0));
  for (const { name, process, subject } of sides) {
    await useEverything(process.port, subject.token, subject, name === 'before');
  }
  const used = sides.map(({ process }) => process.rss().toFixed(0));
  const head = ['MB', ...sides.map(({ name }) => name)];
  return [head, ['after the load', ...loaded], ['after every part was used (an older version lacks some)', ...used]];
}

await main();
