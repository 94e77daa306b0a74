import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { openSqliteStore } from '../../../db/sqlite/store.ts';
import { amount } from '../../support/amount.ts';
import { NOW, temporaryDirectory } from '../support.ts';

/** Set CRASH_ROUNDS=50 for a longer run. `make crash` is the long form for the whole server. */
const ROUNDS = amount(process.env['CRASH_ROUNDS'], 5);
const CHILD = fileURLToPath(new URL('./crash-child.ts', import.meta.url));

/** Runs a writer, and kills it after it has printed this many lines. @returns every line that it printed */
function runAndKill(file: string, round: number, acknowledgements: number): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, file, String(round)], { stdio: ['ignore', 'pipe', 'pipe'] });
    const lines: string[] = [];
    let complaints = '';
    child.stderr.on('data', (chunk) => {
      complaints += chunk;
    });
    createInterface({ input: child.stdout })
      .on('line', (line) => {
        lines.push(line);
        if (lines.length === acknowledgements) child.kill('SIGKILL');
      })
      .on('close', () => resolve(lines));
    child.on('exit', (_code, signal) => {
      if (signal !== 'SIGKILL') reject(new Error(`the writer ended by itself: ${complaints}`));
    });
  });
}

describe('a process that is killed', () => {
  it(`loses nothing that it has acknowledged, ${ROUNDS} times`, async function () {
    this.timeout(600_000 + ROUNDS * 6_000);
    const directory = temporaryDirectory();
    const file = join(directory.path, 'crash.db');
    const acknowledged = new Set<string>();
    const doubtful = new Set<string>();
    const removed = new Set<string>();
    for (let round = 1; round <= ROUNDS; round++) {
      for (const line of await runAndKill(file, round, 40 + ((round * 37) % 160))) {
        if (line.startsWith('?')) doubtful.add(line.slice(1));
        else if (line.startsWith('-')) removed.add(line.slice(1));
        else if (line !== 'ready') acknowledged.add(line);
      }
      const store = await openSqliteStore({ path: file, now: () => NOW });
      const env = (await store.read.environments.list())[0]?.id;
      if (env === undefined) throw new Error('the writer had made no environment');
      for (const id of acknowledged) {
        const row = await store.read.accounts.get(env, id);
        if (removed.has(id)) expect(row, id).to.equal(undefined);
        else if (!doubtful.has(id)) expect(row?.id).to.equal(id);
      }
      const listed = await store.read.accounts.list(env, {}, { size: 1 });
      const found = await store.read.accounts.search(env, { query: 'example' }, { size: 1 });
      expect(found.total).to.equal(listed.total);
      await store.close();

      const client = new Database(file);
      expect(client.pragma('integrity_check', { simple: true })).to.equal('ok');
      expect(client.prepare('select count(*) from accounts').pluck().get()).to.equal(listed.total);
      client.prepare("insert into accounts_search (accounts_search, rank) values ('integrity-check', 1)").run();
      client.close();
    }
    expect(acknowledged.size).to.be.greaterThan(ROUNDS * 10);
    directory.remove();
  });
});
