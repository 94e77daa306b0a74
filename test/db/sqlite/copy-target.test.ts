import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openCopyTarget } from '../../../db/sqlite/copy/target.ts';

describe('the target of a copy', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'copy-target-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('removes what was copied, and its lock, if the copy cannot be completed', async () => {
    const path = join(folder, 'valetkey.db');
    const target = await openCopyTarget(path, () => 0);
    mkdirSync(path);
    expect(await target.finish().catch((error) => error)).to.be.an('error');
    await target.close();
    expect(existsSync(`${path}.copying`)).to.equal(false);
    rmdirSync(path);
    const again = await openCopyTarget(path, () => 0);
    await again.close();
  });
});
