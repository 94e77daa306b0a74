import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { INSTANCE } from '../../../core/budgets.ts';
import { holdInstanceLock, lockPath } from '../../../db/sqlite/instance-lock.ts';
import { temporaryDirectory } from '../support.ts';

describe('F8: the lock of a database file', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let file: string;

  beforeEach(() => {
    directory = temporaryDirectory();
    file = join(directory.path, 'test.db');
  });
  afterEach(() => directory.remove());

  const refusal = (terms: Parameters<typeof holdInstanceLock>[1]) =>
    holdInstanceLock(file, terms).then(
      () => 'none',
      (error) => `${error.code}: ${error.message}`,
    );

  it('is held by one at a time, and can be taken after its release', async () => {
    const first = await holdInstanceLock(file);
    expect(await refusal({ waitMs: 0 })).to.match(/^DATABASE_IN_USE: another server uses the database \S+test\.db/);
    first.release();
    (await holdInstanceLock(file, { waitMs: 0 })).release();
  });

  it('is retried after pauses, and logs this once', async () => {
    const first = await holdInstanceLock(file);
    let pauses = 0;
    let said = 0;
    const second = await holdInstanceLock(file, {
      onWait: () => said++,
      wait: async () => {
        if (++pauses === 3) first.release();
      },
    });
    expect({ pauses, said }).to.deep.equal({ pauses: 3, said: 1 });
    second.release();
  });

  it('is not waited for without a limit', async () => {
    const first = await holdInstanceLock(file);
    let waitedMs = 0;
    const wait = async (ms: number) => (waitedMs += ms);
    expect(await refusal({ wait })).to.match(/^DATABASE_IN_USE/);
    expect(waitedMs).to.equal(INSTANCE.lockWaitMs);
    first.release();
  });

  it('ends with its process, also when that is killed', async () => {
    const module = new URL('../../../db/sqlite/instance-lock.ts', import.meta.url).href;
    const program = `
      const { holdInstanceLock } = await import(${JSON.stringify(module)});
      await holdInstanceLock(${JSON.stringify(file)});
      console.log('held');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    expect(await refusal({ waitMs: 0 })).to.match(/^DATABASE_IN_USE/);
    child.kill('SIGKILL');
    await once(child, 'close');
    (await holdInstanceLock(file, { waitMs: 0 })).release();
  });

  it('is locked again when its file was removed or replaced', async () => {
    const first = await holdInstanceLock(file);
    first.check();
    for (const change of [rmSync, (path: string) => renameSync(path, `${path}.moved`)]) {
      change(lockPath(file));
      first.check();
      expect(await refusal({ waitMs: 0 })).to.match(/^DATABASE_IN_USE/);
    }
    await first.release();
    await (await holdInstanceLock(file, { waitMs: 0 })).release();
  });

  it('reports another server that has locked a new file meanwhile', async () => {
    const first = await holdInstanceLock(file);
    rmSync(lockPath(file));
    const second = await holdInstanceLock(file, { waitMs: 0 });
    expect(() => first.check()).to.throw(/another server uses the database/);
    second.check();
    await first.release();
    await second.release();
  });

  it('is an empty file that only the owner can read', async () => {
    const lock = await holdInstanceLock(file);
    const { mode, size } = statSync(lockPath(file));
    expect({ mode: mode & 0o777, size }).to.deep.equal({ mode: 0o600, size: 0 });
    lock.release();
  });
});
