import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { inBackground } from '../core/background.ts';

const ROOT = join(import.meta.dirname, '..');
const WATCHED = ['catalogue', 'cli', 'core', 'db', 'handlers', 'http', 'spec', 'web', 'wiring'];
/** An editor writes a file in several steps. */
const SETTLE_MS = 100;
const SERVE = ['--disable-sigusr1', 'cli/valetkey.js', 'serve'];

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

/** The types are checked beside the server: it also runs where they do not fit. */
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
