import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { createProgress } from '../../cli/output/progress.ts';
import { createAccount } from '../support/accounts.ts';
import { tamper } from '../support/database-file.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

const PROGRAM = join(import.meta.dirname, '../../cli/valetkey.js');

/** Reports progress to a stream whose clock the test sets, and returns what it wrote. */
function recorded(isTTY: boolean, reports: [atMs: number, done: number, total: number, phase?: string][]): string {
  let [text, now] = ['', 0];
  const stream = { isTTY, columns: 80, write: (chunk: string) => (text += chunk) } as unknown as NodeJS.WriteStream;
  const progress = createProgress({ unit: 'rows', stream, now: () => now });
  for (const [atMs, done, total, phase] of reports) {
    now = atMs;
    progress.report(done, total, phase);
  }
  progress.end();
  return text;
}

describe('progress', () => {
  it('is one line on a terminal, overwritten at each step, with the rate and the remaining time', () => {
    const text = recorded(true, [
      [0, 0, 1_000],
      [50, 10, 1_000],
      [2_000, 250, 1_000],
      [8_000, 1_000, 1_000],
    ]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that overwrite a line
    const lines = text.split(/\u001b\[1G|\u001b\[0K/).filter((part) => part.trim() !== '');
    expect(lines).to.deep.equal([
      '0 %  0 of 1,000 rows',
      '25 %  250 of 1,000 rows  125 rows/s  6 s left',
      '100 %  1,000 of 1,000 rows  125 rows/s',
    ]);
    expect(text.match(/\n/g)).to.have.length(1);
  });

  it('is a line for each tenth outside a terminal, if the work takes longer than 5 seconds', () => {
    const minutes = Array.from({ length: 101 }, (_, i): [number, number, number] => [i * 6_000, i, 100]);
    const lines = recorded(false, minutes).trimEnd().split('\n');
    expect(lines).to.have.length(10);
    expect(lines[0]).to.equal('10 %  10 of 100 rows  0 rows/s  9 min left');
    expect(
      recorded(false, [
        [0, 0, 10],
        [4_900, 10, 10],
      ]),
    ).to.equal('');
  });

  it('measures the rate of each phase separately', () => {
    const text = recorded(false, [
      [0, 0, 100, 'copying'],
      [10_000, 100, 100, 'copying'],
      [10_000, 0, 100, 'verifying'],
      [11_000, 50, 100, 'verifying'],
    ]);
    expect(text).to.equal(
      'copying  100 %  100 of 100 rows  10 rows/s\nverifying  50 %  50 of 100 rows  50 rows/s  1 s left\n',
    );
  });

  it('of valetkey backup is shown on a pseudo-terminal, followed by the result', async () => {
    const folder = tempDir();
    const server = await startTestServer();
    await createAccount(server, { identifier: 'ada' });
    tamper(server.parts.config.databaseFile, 'create table filler (x blob)');
    tamper(server.parts.config.databaseFile, 'insert into filler values (randomblob(3e6))');
    const command = [process.execPath, PROGRAM, 'backup', join(folder.path, 'one.db')].join(' ');
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { PATH: process.env['PATH'], TERM: 'xterm', DATA_DIR: server.dataDir },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    const [code] = await once(child, 'close');
    await server.stop();
    folder.remove();
    expect(code, text).to.equal(0);
    expect(text).to.match(/copying {2}\d+ % {2}\d+ of \d+ MiB/);
    expect(text).to.include('\u001b[1Gcopying');
    expect(text).to.match(/\nBackup made and verified: /);
  });
});
