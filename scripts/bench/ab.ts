import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runLoad } from './load.ts';
import { type RunningProcess, withProcesses } from './processes.ts';
import { startFlags } from './start-flags.ts';
import { median } from './statistics.ts';
import { type Build, environmentOf, prepare, REQUESTS, type Subject } from './subject.ts';

const ROOT = join(import.meta.dirname, '../..');
/**
 * A run consists of slices: short periods of load on both servers. This many slices at its start are not counted,
 * because a server that has just started still compiles its code. If they were counted, the server that was started
 * first would seem faster.
 */
const WARM_UP_SLICES = 8;
/**
 * Compares the processor time per request of two checkouts, which are under load at the same time on one core, so that
 * a busy machine affects both: `node scripts/bench/ab.ts --against ../other --only execute-tool --slices 12`. Both
 * servers call the same upstream. To compare options of Node, pass `--against .` and the options that only the first
 * server gets, such as `--flags=--max-semi-space-size=8`.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      against: { type: 'string' },
      only: { type: 'string', default: Object.keys(REQUESTS).join(',') },
      slices: { type: 'string', default: '8' },
      seconds: { type: 'string', default: '1.5' },
      connections: { type: 'string', default: '10' },
      flags: { type: 'string', default: '' },
    },
  });
  if (!values.against) throw new Error('--against must name the folder of another checkout');
  mkdirSync(join(ROOT, 'data'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'data', 'ab-'));
  const slices = Number(values.slices);
  const flags = values.flags.split(' ').filter((flag) => flag !== '');
  try {
    await withProcesses(async (start) => {
      const common = { core: 0, readyPath: '/' };
      const upstreamFile = join(import.meta.dirname, 'upstream.ts');
      const upstream = await start({ ...common, args: [upstreamFile], env: {}, logFile: join(folder, 'upstream.log') });
      const sides: { name: string; process: RunningProcess; subject: Subject }[] = [];
      for (const [name, root] of Object.entries({ this: ROOT, other: values.against as string })) {
        const process = await start({
          args: [...startFlags(root), ...(name === 'this' ? flags : []), join(root, 'cli/valetkey.js'), 'serve'],
          env: environmentOf(join(folder, name), upstream.port),
          readyPath: '/readyz',
          core: 0,
          logFile: join(folder, `${name}.log`),
        });
        sides.push({ name, process, subject: await prepare(process.port) });
      }
      for (const operation of values.only.split(',')) {
        const build = REQUESTS[operation];
        if (!build) throw new Error(`no operation ${operation}; there are ${Object.keys(REQUESTS).join(', ')}`);
        const spent: Record<string, number[]> = { this: [], other: [] };
        const [connections, seconds] = [Number(values.connections), Number(values.seconds)];
        for (let slice = -WARM_UP_SLICES; slice < slices; slice++) {
          const measured = sides.map(({ process, subject }) =>
            cpuPerRequest(process, subject, build, connections, seconds),
          );
          for (const [place, micros] of (await Promise.all(measured)).entries()) {
            if (slice >= 0) spent[sides[place]?.name ?? '']?.push(micros);
          }
        }
        const ratios = (spent['this'] ?? []).map((micros, index) => micros / (spent['other']?.[index] ?? Number.NaN));
        const shown = Object.entries(spent).map(([name, all]) => `${name} ${median(all).toFixed(0)} µs`);
        const sorted = ratios.toSorted((a, b) => a - b).map((ratio) => ratio.toFixed(2));
        console.log(
          `${operation}: ${shown.join(', ')}; ratio ${median(ratios).toFixed(3)} (${sorted[0]} to ${sorted.at(-1)})`,
        );
      }
      for (const { name, process } of sides) console.log(`memory of ${name}: ${process.rss().toFixed(0)} MB`);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function cpuPerRequest(
  process: RunningProcess,
  subject: Subject,
  build: Build,
  connections: number,
  seconds: number,
): Promise<number> {
  const cpu: number[] = [];
  let turn = 0;
  const result = await runLoad({
    port: process.port,
    connections,
    pauseMs: 0,
    seconds,
    warmUpSeconds: 0.2,
    token: subject.token,
    status: 200,
    request: () => build(subject, turn++),
    onCounted: () => cpu.push(process.cpu()),
  });
  return ((cpu[1] ?? Number.NaN) - (cpu[0] ?? Number.NaN)) / result.requests;
}

await main();
