import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { expect } from 'chai';

const MODULE = new URL('../../../db/sqlite/checkpoint-thread.ts', import.meta.url).href;

describe('the checkpoint thread', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'valetkey-thread-'));
    path = join(folder, 'one.db');
    const client = new Database(path);
    client.pragma('journal_mode = wal');
    client.exec('create table t (a text) strict');
    client.close();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs a module in its own process, in which nothing else keeps the event loop alive. */
  function run(code: string): Promise<{ stdout: string; stderr: string }> {
    const script = join(folder, 'script.mjs');
    writeFileSync(script, code);
    return promisify(execFile)(process.execPath, [script, path, MODULE], { timeout: 300_000 });
  }
  const START = `
    const { createCheckpointThread } = await import(process.argv[3]);
    const thread = createCheckpointThread(process.argv[2]);
    await thread.move();`;

  it('does not keep the process alive when idle', async () => {
    const { stdout } = await run(`${START} console.log('moved');`);
    expect(stdout).to.equal('moved\n');
  });

  it('keeps the process alive until it has closed its connection', async () => {
    const { stdout, stderr } = await run(`${START} await thread.end(); console.log('ended');`);
    expect({ stdout, stderr }).to.deep.equal({ stdout: 'ended\n', stderr: '' });
  });
});
