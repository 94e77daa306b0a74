import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../demo/process.ts';

const ROOT = join(import.meta.dirname, '../..');
const ROUNDS = 3;
/** A part of the log line that the server writes when it accepts requests. */
const READY = '"msg":"listening"';

/** The edited files: a module of the server, and a file of the contract, which also requires generating other files. */
const EDITED = { program: 'core/program-version.ts', contract: 'spec/paths/jobs.yaml' };

/**
 * `make bench-watch`: measures how long `make watch` takes from an edit to a running server. It adds an empty line to
 * files of this repository, and restores them.
 */
async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'valetkey-watch-'));
  const env = {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: String(await freePort()),
    METRICS_PORT: '0',
    LOG_FORMAT: 'json',
  };
  const watcher = spawn(process.execPath, ['scripts/watch.ts'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const output of [watcher.stdout, watcher.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  const before = Object.values(EDITED).map(
    (file) => [join(ROOT, file), readFileSync(join(ROOT, file), 'utf8')] as const,
  );
  try {
    await started(1);
    let starts = 1;
    for (const [name, file] of Object.entries(EDITED)) {
      const times = [];
      for (let round = 1; round <= ROUNDS; round++) {
        const path = join(ROOT, file);
        const from = performance.now();
        writeFileSync(path, `${readFileSync(path, 'utf8')}\n`);
        starts += 1;
        await started(starts);
        times.push(((performance.now() - from) / 1000).toFixed(1));
      }
      const [load = 0] = loadavg();
      console.log(
        `${name}: ${times.join(', ')} s (${file}; load ${load.toFixed(1)} on ${availableParallelism()} cores)`,
      );
    }
  } finally {
    watcher.kill('SIGTERM');
    for (const [path, text] of before) writeFileSync(path, text);
    execFileSync(process.execPath, ['scripts/generate-if-stale.ts'], { cwd: ROOT });
    // The server ends some time after the watcher, and may still write files until then.
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  }

  async function started(count: number): Promise<void> {
    while (log.split(READY).length <= count) {
      if (watcher.exitCode !== null) throw new Error(`scripts/watch.ts ended:\n${log}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

await main();
