import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The format of `--cpu-prof`. */
interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

const SHOWN_FUNCTIONS = 40;

/**
 * `node scripts/bench/profile.ts <folder>`: shows where the newest profile of a folder spent its time, by folder and by
 * function.
 */
function main(folder: string): void {
  const [newest] = readdirSync(folder)
    .filter((name) => name.endsWith('.cpuprofile'))
    .sort()
    .reverse();
  if (!newest) throw new Error(`${folder} has no profile`);
  const profile = JSON.parse(readFileSync(join(folder, newest), 'utf8')) as Profile;
  const folders = new Map<string, number>();
  const functions = new Map<string, number>();
  let busy = 0;
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  for (const [place, id] of profile.samples.entries()) {
    const frame = frames.get(id);
    if (!frame || frame.functionName === '(idle)') continue;
    const time = profile.timeDeltas[place] ?? 0;
    busy += time;
    const folderName = folderOf(frame.url, frame.functionName);
    folders.set(folderName, (folders.get(folderName) ?? 0) + time);
    const file = frame.url.split('/').slice(-2).join('/');
    const name = `${frame.functionName || '(anonymous)'} ${file}:${frame.lineNumber + 1}`;
    functions.set(name, (functions.get(name) ?? 0) + time);
  }
  print('by folder', folders, busy, Number.POSITIVE_INFINITY);
  print('by function, without what it calls', functions, busy, SHOWN_FUNCTIONS);
}

/** Returns the project folder, the package, or the part of Node that a function belongs to. */
function folderOf(url: string, functionName: string): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native code)';
  if (url.startsWith('node:')) return url.split('/')[0] as string;
  const packageName = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (packageName) return `package ${packageName}`;
  const path = url.slice(url.indexOf(ROOT) + ROOT.length + 1).split('/');
  return path[0] === 'core' ? path.slice(0, 2).join('/') : (path[0] as string);
}

function print(title: string, times: Map<string, number>, busy: number, most: number): void {
  console.log(`\n${title}`);
  const sorted = [...times].sort(([, a], [, b]) => b - a).slice(0, most);
  for (const [name, time] of sorted) console.log(`${((100 * time) / busy).toFixed(1).padStart(6)} %  ${name}`);
}

const ROOT = join(import.meta.dirname, '../..');
main(process.argv[2] ?? '.');
