import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLogOutput } from '../../http/monitoring/log-output.ts';
import { tempDir } from '../support/temp-dir.ts';

describe('the output of the log', () => {
  const folder = tempDir();
  const file = join(folder.path, 'log');
  let fd: number;

  beforeEach(() => {
    fd = openSync(file, 'w');
  });
  afterEach(() => closeSync(fd));
  after(() => folder.remove());

  const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `line ${from + i}\n`);

  it('writes lines in order, whether it is flushed automatically, explicitly, or at the end', async () => {
    const output = createLogOutput(fd);
    for (const line of lines(0, 20_000)) output.write(line);
    output.flush();
    for (const line of lines(20_000, 30_000)) output.write(line);
    await output.end();
    expect(readFileSync(file, 'utf8')).to.equal(lines(0, 30_000).join(''));
  });

  it('holds lines until it is flushed', () => {
    const output = createLogOutput(fd);
    output.write('a line\n');
    expect(readFileSync(file, 'utf8')).to.equal('');
    output.flushSync();
    expect(readFileSync(file, 'utf8')).to.equal('a line\n');
  });

  it('does not throw, wait or exceed its memory limit when nothing can be written (F3)', async () => {
    const full = openSync('/dev/full', 'w');
    const output = createLogOutput(full);
    for (let i = 0; i < 2_000; i++) output.write('x'.repeat(10_000));
    output.flushSync();
    await output.end();
    closeSync(full);
  });
});
