import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { inBackground } from '../core/scheduling/background.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGES = ['assets', 'connect', 'docs', 'languages', 'portal'].map((name) => `web/${name}`);
const WATCHED = ['catalogue', 'cli', 'core', 'db', 'handlers', 'http', 'spec', ...PAGES, 'wiring'];
/** How long to wait after a change, because editors write a file in several steps. */
const SETTLE_MS = 100;
/** `--with-parent` ends the server also when this process is killed. */
const SERVE = ['--disable-sigusr1', 'cli/valetkey.js', 'serve', '--with-parent'];

let server: ChildProcess | undefined;
let types: ChildProcess | undefined;
let settling: NodeJS.Timeout | undefined;
let turn = Promise.resolve();

function run(command: string, args: string[]): ChildProcess {
  return spawn(command, args, { cwd: ROOT, stdio: 'inherit' });
}

async function stop(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}

/**
 * Generates what has changed, then restarts the server and the type check, which run at the same time: the server also
 * runs if there are type errors. If generating fails, the running server continues.
 */
async function update(): Promise<void> {
  const [code] = await once(run(process.execPath, ['scripts/generate-if-stale.ts']), 'exit');
  if (code !== 0) return;
  await Promise.all([stop(server), stop(types)]);
  server = run(process.execPath, SERVE);
  types = run('tsc', ['--noEmit', '--pretty', 'false', '-p', '.']);
}

function queueUpdate(): void {
  turn = turn.then(update);
  inBackground(
    () => turn,
    (error) => console.error(error),
  );
}

for (const folder of WATCHED) {
  watch(join(ROOT, folder), { recursive: true }, () => {
    clearTimeout(settling);
    settling = setTimeout(queueUpdate, SETTLE_MS);
  });
}
queueUpdate();
